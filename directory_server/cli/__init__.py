"""The command line `directory-server`: each command is in the module of its name, and `command_line` names them."""
