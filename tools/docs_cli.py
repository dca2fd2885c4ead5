"""The command line's reference as Markdown, from the application itself: what `--help` says, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

TAG = re.compile(r"(?<!\\)\[([a-z][a-z_ ]*)\](.*?)\[/(?:\1)?\]", re.DOTALL)
"""Rich's markup, a style around some text; other brackets are brackets."""
OPTION = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*)")
EXTRA = re.compile(r"^(.*?)(?:  )?\[([^\[\]]*)\]$", re.DOTALL)


def overview(application: Any, name: str = "carat") -> str:
    """What the application says of itself, its own options, and a list of its commands, from a Typer application."""
    group, above = _opened(application, name)
    lines = [*_prose(group.help or ""), "| command | |", "| --- | --- |"]
    lines += [f"| [`{name} {each}`](#{name}-{each}) | {_first(command)} |" for each, command in _commands(group, above)]
    return "\n".join([*lines, "", *_parameters(group, above), *_prose(group.epilog or "")])


def reference(application: Any, name: str = "carat") -> str:
    """A section for every command of a Typer application.

    Of Typer's classes only what they share with Click's is used, and what a parameter says about itself
    (`get_help_record`), so that a new command or option needs nothing here.
    """
    group, above = _opened(application, name)
    lines: list[str] = []
    for each, command in _commands(group, above):
        context = command.make_context(each, [], parent=above, resilient_parsing=True)
        lines += ["", f"## {name} {each}", "", "```text", _usage(command, context, f"{name} {each}"), "```", ""]
        lines += [*_prose(command.help or ""), *_parameters(command, context), *_prose(command.epilog or "")]
    return "\n".join(lines)


def _opened(application: Any, name: str) -> tuple[Any, Any]:
    group: Any = get_command(application)
    return group, group.make_context(name, [], resilient_parsing=True)


def _commands(group: Any, above: Any) -> list[tuple[str, Any]]:
    """Those that are not hidden, one panel of the help after the other."""
    named = [(each, group.get_command(above, each)) for each in group.list_commands(above)]
    shown = [(each, command) for each, command in named if not command.hidden]
    panels = list(dict.fromkeys(str(getattr(command, "rich_help_panel", "")) for _, command in shown))
    return sorted(shown, key=lambda pair: panels.index(str(getattr(pair[1], "rich_help_panel", ""))))


def to_markdown(text: str) -> str:
    """Rich's markup as Markdown: commands and options as code, the rest as it was stressed.

    >>> to_markdown("Try [bold]carat demo[/bold], with --out, [bold]now[/bold] \\\\[today]")
    'Try `carat demo`, with `--out`, **now** \\\\[today\\\\]'
    """
    parts, end = [], 0
    for found in TAG.finditer(text):
        parts += [_plain(text[end : found.start()]), _styled(found[1], found[2])]
        end = found.end()
    return "".join([*parts, _plain(text[end:])])


def _styled(style: str, text: str) -> str:
    words = style.split()
    if text.startswith(("carat ", "-")) or not {"bold", "b", "italic", "i", "dim"} & set(words):
        return f"`{text}`"
    return f"**{text}**" if {"bold", "b"} & set(words) else f"*{text}*"


def _plain(text: str) -> str:
    escaped = re.sub(r"([*_<>|\[\]])", r"\\\1", text.replace("\\[", "["))
    return OPTION.sub(r"`\1`", escaped)


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; lines that are laid out, or are all commands, stay lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line.rstrip() for line in paragraph.strip("\b\n").split("\n") if line.strip()]
        bare = [TAG.sub(r"\2", line).replace("\\[", "[") for line in lines]
        example = re.fullmatch(r"(Example): (carat .*)", bare[0]) if len(bare) == 1 else None
        if example:
            yield from (f"{example[1]}:", "", "```sh", example[2], "```", "")
        elif bare and all(line.strip().startswith("carat ") for line in bare):
            yield from ("```sh", *(line.strip() for line in bare), "```", "")
        elif any(re.search(r"\S {2,}\S", line) for line in bare):
            yield from ("```text", *bare, "```", "")
        elif lines:
            yield from (to_markdown(" ".join(line.strip() for line in lines)), "")


def _first(command: Any) -> str:
    """The first sentence of the help."""
    return to_markdown(" ".join((command.help or "").strip().split("\n\n")[0].split()))


def _usage(command: Any, context: Any, name: str) -> str:
    return " ".join([name, *(piece.strip("{}") for piece in command.collect_usage_pieces(context))])


def _parameters(command: Any, context: Any) -> Iterator[str]:
    """A table of what the command takes."""
    records = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    rows = [_row(*record) for record in records if "--help" not in record[0]]
    if rows:
        yield from ("| argument or option | default | meaning |", "| --- | --- | --- |", *rows, "")


def _row(name: str, text: str) -> str:
    """A parameter's own words, its default and range taken out of the brackets at the end."""
    found = EXTRA.match(text)
    meaning, extra = (found[1], found[2].split("; ")) if found else (text, [])
    default, notes = "", []
    for part in extra:
        if part == "required":
            default = "required"
        elif part.startswith("default: "):
            default = f"`{part.removeprefix('default: ')}`"
        else:
            notes.append(_range(part))
    meaning = to_markdown(" ".join(meaning.split()))
    if notes:
        meaning = f"{meaning.rstrip('.')} ({', '.join(notes)})."
    shown = " ".join(re.sub(r"\brange\b", "", name).replace(" >", ">").split())
    return f"| `{shown}` | {default} | {meaning} |"


def _range(text: str) -> str:
    """`0<=x<=1` in words."""
    both = re.fullmatch(r"(\S+)<=x<=(\S+)", text)
    if both:
        return f"{both[1]} to {both[2]}"
    least = re.fullmatch(r"x>=(\S+)", text)
    return f"at least {least[1]}" if least else f"`{text}`"
