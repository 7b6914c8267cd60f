"""A contract for import-linter: a part of the package imports nothing but what is listed.

`lint-imports` loads it by the `contract_types` of pyproject.toml.
"""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class OnlyContract(Contract):
    """The modules of one part import each other and the listed ones, each of which is needed.

    Configuration options:
        - part: A module or a package, with all that is in it.
        - may_import: Modules, without what is in them.
    """

    type_name = "only"

    part = fields.StringField()
    may_import = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        part: Any = self.part
        inside = {part, *graph.find_descendants(part)}
        imported = {
            (module, other)
            for module in inside
            for other in graph.find_modules_directly_imported_by(module) - inside
        }
        allowed: set[Any] = set(self.may_import)  # type: ignore[call-overload]
        wrong = sorted(pair for pair in imported if pair[1] not in allowed)
        unused = sorted(allowed - {other for _, other in imported})
        return ContractCheck(
            kept=not wrong and not unused, metadata={"wrong": wrong, "unused": unused}
        )

    def render_broken_contract(self, check: ContractCheck) -> None:
        for module, other in check.metadata["wrong"]:
            output.print_error(f"{module} imports {other}, which is not in may_import.")
        for other in check.metadata["unused"]:
            output.print_error(f"{self.part} does not import {other}; take it out of may_import.")
