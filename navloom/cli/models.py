"""``navloom models``: list the model providers and what each needs. No key is printed."""

from __future__ import annotations

from navloom.cli.common import print_json, print_table
from navloom.cli.options import CommandApp, Json, with_options

app = CommandApp()


@app.command("models")
@with_options()
def models(as_json: Json = False) -> None:
    """List the providers of models, what each needs, and which are ready."""
    from navloom.evals.report.formatting import Table
    from navloom.models.model_registry import list_providers

    providers = list_providers()
    if as_json:
        print_json(
            [
                {
                    "provider": provider.name,
                    "models": [f"{provider.name}/{name}" for name in provider.models],
                    "any_other_name": provider.is_open,
                    "needs": provider.needs,
                    "ready": provider.missing_setup() is None,
                    "todo": {
                        f"{provider.name}/{name}": provider.missing_setup(name)
                        for name in (*provider.models, "...")
                        if provider.missing_setup(name)
                    },
                    "about": provider.about,
                }
                for provider in providers
            ]
        )
        return
    rows = []
    for provider in providers:
        names = [*provider.models, *(["..."] if provider.is_open else [])]
        shown = "\n".join(f"{provider.name}/{name}" for name in names)
        ready = "\n".join(provider.missing_setup(name) or "yes" for name in names)
        rows.append((shown, ready, provider.about))
    print_table(Table("", "", ("model", "ready", "what"), tuple(rows)))
