"""A property that is computed when it is first asked for, and kept.

Until Python 3.12 the standard library's holds a lock, one for all objects of a class, while it
computes: threads that work on different objects wait for one another. This one has no lock; two
threads that ask the same object at once may both compute.
"""

import functools
from typing import Any, Self, TypeVar, overload

__all__ = ["cached_property"]

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):  # noqa: N801
    """Make a method a property whose value is kept in the object.

    Examples
    --------
    >>> class Sample:
    ...     @cached_property
    ...     def size(self):
    ...         print("counted")
    ...         return 3
    >>> sample = Sample()
    >>> sample.size + sample.size
    counted
    6
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the value; from the second time on it is found in the object itself."""
        if instance is None:
            return self
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value
