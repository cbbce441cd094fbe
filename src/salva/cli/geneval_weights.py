"""`python -m salva.cli.geneval_weights`: the detector that GenEval was published with, from mmdet's own file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("geneval-weights")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The folder to make.")
def command(file: Path, output: Path) -> None:
    """Convert FILE, mmdet's Mask2Former checkpoint that GenEval looks with, for `--detector mask2former/FOLDER`.

    FILE is mask2former_swin-s-p4-w7-224_lsj_8x2_50e_coco_20220504_001756-743b7d99.pth, as mmdet publishes it. Only
    tensors are read from it, mmdet is not needed, and nothing is downloaded.
    """
    from salva.assets.coco_names import COCO
    from salva.hardware.mmdet_weights import convert
    from salva.hardware.origins import GENEVAL_SHA256

    click.echo(f"reading {file}", err=True)
    sha256 = convert(file, output, COCO)
    is_published = sha256.startswith(GENEVAL_SHA256)
    click.echo(
        "published weights: the file is the one GenEval was published with"
        if is_published
        else f"other weights: the digest of the file begins with {sha256[:8]}, that of the published one with "
        f"{GENEVAL_SHA256}"
    )
    click.echo(f"use them with: --detector mask2former/{output}")


if __name__ == "__main__":
    command()
