"""What needs an accelerator: run by hand on a machine that has one."""
