"""Commands: each shell splits the text for it into exactly the intended words."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.client_config import Setup, install_options
from directory_server.web.pages._commands import SHELLS, commands

from .test_install import HOSTILE, setups_of

UNIX = [shell for shell in ("sh", "bash", "zsh", "dash", "fish") if shutil.which(shell)]


END = "end of a command"


def read_by_unix(shell: str, texts: Sequence[str], file: Path) -> list[list[str]]:
    """Return the words of commands as a shell of this machine reads them from `file`."""
    # printf gets the words, so that nothing else can run.
    file.write_text("".join(f"printf '%s\\0' {text} '{END}'\n" for text in texts), "utf-8")
    done = subprocess.run([str(shutil.which(shell)), str(file)], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return [text.split("\0")[:-1] for text in done.stdout.decode().split(f"{END}\0")[:-1]]


def program_words(line: str) -> list[str]:
    """Return the arguments in the command line of a Windows program (CommandLineToArgvW), its name left out."""
    words: list[str] = []
    word, quoted, started = "", False, False
    for backslashes, other in re.findall(r"(\\*)(.|$)", line, re.DOTALL):
        if other == '"':
            word += "\\" * (len(backslashes) // 2)
            started = True
            if len(backslashes) % 2:
                word += '"'
            else:
                quoted = not quoted
            continue
        word += backslashes
        started = started or bool(backslashes)
        if other in (" ", "\t", "") and not quoted:
            if started:
                words.append(word)
            word, started = "", False
        else:
            word += other
            started = True
    assert not quoted
    return words


def read_by_cmd(line: str) -> str:
    """Return the command line that cmd.exe passes on. Fails for what starts another program or expands a variable."""
    assert not re.search(r"[%!\r\n]", line)
    passed, quoted = "", False
    characters = iter(line)
    for character in characters:
        if character == '"':
            quoted = not quoted
        elif not quoted:
            assert character not in "&|<>()", "another command or a redirection"
            if character == "^":
                character = next(characters)
        passed += character
    assert not quoted
    return passed


def batch_parameters(line: str) -> str:
    """Return %1 %2 … of a batch file: outside of quotes, commas, semicolons and equals signs separate them, too."""
    return " ".join(re.findall(r'(?:"[^"]*"|[^\s,;="])+', line))


def by_command_prompt(line: str) -> Iterator[list[str]]:
    """Yield the words of a command in cmd.exe, for a program and for two kinds of batch file."""
    passed = read_by_cmd(line)
    yield program_words(passed)
    yield program_words(read_by_cmd(passed))
    yield program_words(read_by_cmd(batch_parameters(passed)))


def powershell_tokens(line: str) -> list[tuple[str, bool]]:
    """Return the arguments of a command in PowerShell's argument mode, and whether each one is quoted.

    Fails for tokens that are no plain strings (about_Parsing, about_Quoting_Rules).
    """
    tokens = []
    rest = line
    while rest:
        token = re.match(r"'((?:[^']|'')*)'(?= |$)|\"([^\"$`]*)\"(?= |$)|([^\s'\"`$(){};,|&<>@#]\S*)", rest)
        assert token, rest
        single, double, bare = token.groups()
        if bare is not None:
            # Numbers, and operators of two signs, are no strings. Some characters end a token wherever they are.
            assert not re.match(r"[-+.]?[0-9]|-[^-]|--$", bare), bare
            assert not re.search(r"['\"`$(){};,|&<>#]", bare), bare
        assert not re.search("[\u2018-\u201f\u2013-\u2015]", token[0])
        value = bare if bare is not None else double if double is not None else single.replace("''", "'")
        tokens.append((value, bare is None))
        rest = rest[token.end() :].removeprefix(" ")
    return tokens


def by_powershell(line: str) -> Iterator[list[str]]:
    """Yield the words of a command in Windows PowerShell, for a program, a script, and a batch file."""
    tokens = powershell_tokens(line)
    # A program gets a line in which words with blanks are in quotes, and no quote is escaped. Empty words are lost.
    passed = " ".join(f'"{value}"' if " " in value else value for value, _ in tokens if value)
    yield program_words(passed)
    yield program_words(read_by_cmd(passed))
    # A script does not get the first `--` without quotes.
    yield [value for value, quoted in tokens if quoted or value != "--"]


WINDOWS: dict[str, Callable[[str], Iterator[list[str]]]] = {
    "PowerShell": by_powershell,
    "Command Prompt": by_command_prompt,
}


def check_windows(words: Sequence[str]) -> None:
    for shells, text in commands(words):
        for shell in shells:
            for read in WINDOWS[shell](text) if shell in WINDOWS else ():
                assert read == list(words), (shell, text)


def check_unix(all_words: Sequence[Sequence[str]], file: Path) -> None:
    pairs = [
        (text, list(words)) for words in all_words for shells, text in commands(words) if "bash, zsh, fish" in shells
    ]
    expected = [words for _, words in pairs]
    assert [shlex.split(text) for text, _ in pairs] == expected
    for shell in UNIX:
        assert read_by_unix(shell, [text for text, _ in pairs], file) == expected, shell


def text_for(shell: str, words: Sequence[str]) -> str:
    return next((text for shells, text in commands(words) if shell in shells), "")


ATTACKS = [
    *("x -- git powershell.exe -enc AAAA ;", "a;--scope user", "a,b=c;d", "a & calc & ", "a && calc"),
    *("%PATH% ^& calc", "a'b", "it''s", "\\", "a\\", "a b\\", "a\\'b", "\\\\host\\share x\\", "‘x’", "“x”", "！＂"),
    *("!!", "!-1", "$x$(id)`id`", "1e3", "007", "-x:y", "--%", "-", "–x", "@a", "#a", "~", "~root", "=ls", "{a,b}"),
    *("*", "^", "(a)", " ", " a ", "", "a\nb", "a\x1bb"),
]
"""Fixed values that are split or expanded by some shell."""


def lines_of(value: str) -> list[list[str]]:
    return [
        ["claude", "mcp", "add", "--env", f"A_B={value}", "--scope", "project", "k", "--", "npx", "-y", "a@1"],
        ["claude", "mcp", "add", "k", "https://a.example", "--header", f"X: {value}"],
        ["claude", "mcp", "add", "k", "--", "npx", "-y", "a@1", value, "${MCP_1_KEY}"],
        *(words_of(setup) for setups in setups_of(value) for setup in setups.setups if setup.command),
    ]


@pytest.mark.parametrize("value", [*HOSTILE, *ATTACKS])
def test_windows_shells_read_exactly_the_words(value: str) -> None:
    for words in lines_of(value):
        check_windows(words)


def test_unix_shells_read_exactly_the_words(tmp_path: Path) -> None:
    check_unix([words for value in (*HOSTILE, *ATTACKS) for words in lines_of(value)], tmp_path / "commands")
    assert len(UNIX) > 1


SPECIAL = st.sampled_from("'\"\\$`!&|<>^%()[]{};*?~#=@, \n\tabc-1\u2018\u201dé")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(SPECIAL, max_size=12), max_size=5))
def test_any_words_are_read_or_left_out(words: Sequence[str]) -> None:
    words = ["claude", *words]
    check_windows(words)
    if text := text_for("bash, zsh, fish", words):
        assert shlex.split(text) == words
        # fish knows escapes in single quotes.
        assert not re.search(r"'[^']*\\[^']*'", re.sub(r"\\['\\]", "", text))


def test_values_with_blanks_are_one_word_in_the_command_prompt() -> None:
    """In single quotes, cmd.exe read another command: `claude mcp add … -- git powershell.exe …`."""
    words = lines_of(ATTACKS[0])[0]
    assert next(by_command_prompt(shlex.join(words))) != words
    assert text_for("Command Prompt", words) == (
        'claude mcp add --env "A_B=x -- git powershell.exe -enc AAAA ;" --scope project k "--" npx "-y" a@1'
    )


def test_shells_share_a_text_that_is_right_in_all_of_them() -> None:
    [(shells, _)] = commands(["claude", "mcp", "add", "k", "--", "npx", "-y", "@a/b@1.0"])
    assert list(shells) == list(SHELLS)
    reference = commands(["claude", "--header", "Authorization: Bearer ${KEY}"])
    assert reference == [
        (["bash, zsh, fish", "PowerShell"], "claude --header 'Authorization: Bearer ${KEY}'"),
        (["Command Prompt"], 'claude --header "Authorization: Bearer ${KEY}"'),
    ]


@pytest.mark.parametrize(
    ("word", "shells"),
    [
        ('a"b', ["bash, zsh, fish"]),
        ("%PATH%", ["bash, zsh, fish"]),
        ("a&b", ["bash, zsh, fish", "Command Prompt"]),
        ("a b\\", ["bash, zsh, fish"]),
        ("a\\", ["bash, zsh, fish", "PowerShell"]),
        ("", ["bash, zsh, fish", "Command Prompt"]),
        ("é", ["bash, zsh, fish"]),
        ("a\nb", []),
    ],
)
def test_a_shell_that_cannot_read_a_word_has_no_command(word: str, shells: list[str]) -> None:
    assert [shell for names, _ in commands(["claude", word]) for shell in names] == shells


def test_no_words_are_no_command() -> None:
    assert commands([]) == []


def words_of(setup: Setup) -> list[str]:
    """Return the words of the command of a setup, the JSON of objects included."""
    return [word if isinstance(word, str) else serialization.encode(word).decode() for word in setup.command]


def test_commands_of_real_entries(shared_data: Path, tmp_path: Path) -> None:
    all_words = []
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        # A fortieth of them: all take half a minute.
        for line in islice(lines, 0, None, 40):
            if b'"packages"' in line or b'"remotes"' in line:
                entry = serialization.decode_entry(serialization.decode(line))
                for option in install_options(entry.name, entry.mcp_id, entry.packages, entry.remotes):
                    all_words += [words_of(setup) for setup in option.setups.setups] if option.setups else []
    all_words = [words for words in all_words if words]
    for words in all_words:
        check_windows(words)
    check_unix(all_words, tmp_path / "commands")
    # The command of VS Code has JSON, whose quotation marks only Unix shells pass on.
    others = [words for words in all_words if words[0] != "code"]
    counts = {shell: sum(bool(text_for(shell, words)) for words in others) for shell in SHELLS}
    assert counts["bash, zsh, fish"] == len(others) > 250
    assert min(counts.values()) > 0.99 * len(others), counts
    assert all(text_for("bash, zsh, fish", words) for words in all_words)
