"""Words that say nothing about the subject of a text, by language."""

_ENGLISH = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can cannot could did do does doing done down during each either else ever
every few for from further get gets got had has have having he her here hers herself him himself his
how however i if in into is it its itself just let like may me might mine more most much must my
myself neither nor of off often on once one only or other our ours ourselves out over own per rather
s same shall she should since so some such t than that the their theirs them themselves then there
therefore these they this those though through thus to too under until up upon us very was we were
what whatever when where whether which while who whom whose why will with within would yet you your
yours yourself yourselves
isn aren wasn weren hasn haven hadn doesn don didn won wouldn shan shouldn couldn mustn needn ain
ll ve re im ive youre hes shes theyre thats theres whats lets
"""

_ITALIAN = """
a abbia abbiamo abbiano abbiate ad agli ai al all alla alle allo altra altre altri altro anche
ancora avendo avere avesse avessero avessi avete aveva avevamo avevano avevate avevo avrai avranno
avrebbe avrebbero avrei avremo avrete avrà avrò avuta avute avuti avuto c che chi ci ciò coi col
colla come con cosa così cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della
delle dello dentro di dopo dov dove dunque durante e ebbe ebbero ecco ed egli ella era erano
eravamo eravate eri ero essa esse essendo essere essi esso fa facciamo faccio fanno far fare fatta
fatte fatti fatto fece fino fosse fossero fossi fra fu fui fummo furono già gli ha hai hanno ho i
il in infatti io l la le lei li lo loro lui ma me mentre mi mia mie miei mio molta molte molti
molto ne negli nei nel nell nella nelle nello noi nostra nostre nostri nostro né o od ogni oltre
oppure ora per perché perciò però più poco poi qua qualche quale quali quando quanta quante quanti
quanto quasi quei quel quella quelle quelli quello questa queste questi questo qui quindi s sarai
saranno sarebbe sarebbero sarei saremo sarete sarà sarò se sei sempre senza si sia siamo siano
siate siccome siete solo sono sopra sotto sta stai stando stanno stare stata state stati stato
stava stavano stessa stesse stessi stesso sto su sua sue sugli sui sul sull sulla sulle sullo suo
suoi sì tale tali tanto te ti tra tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto un una uno v
vi voi vostra vostre vostri vostro è
"""

# Words that deny or grade are kept: "not good" is no praise. A list of one's own may take them out.
STOP_WORDS: dict[str, frozenset[str]] = {
    "english": frozenset(_ENGLISH.split()),
    "italian": frozenset(_ITALIAN.split()),
}
