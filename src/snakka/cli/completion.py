"""`snakka completion`: click's completion for a shell."""

import click
from click.shell_completion import get_completion_class


@click.command(epilog="Example: snakka completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands in a shell.

    \b
    Where to put it:
      bash  snakka completion bash >> ~/.bashrc
      zsh   snakka completion zsh >> ~/.zshrc
      fish  snakka completion fish > ~/.config/fish/completions/snakka.fish
    """
    root = context.find_root()
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(root.command, {}, "snakka", "_SNAKKA_COMPLETE").source())
