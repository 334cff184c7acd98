"""Checks the files of a release: the package with lintian, the SBOM with its schema, and the checksums."""
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import root

# Has the schemas of CycloneDX.
VALIDATOR = "cyclonedx-python-lib[json-validation]==11.12.0"
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(f"the SBOM is invalid: {error}" if error else 0)
"""


def check(package: pathlib.Path, cache: pathlib.Path) -> None:
    run_lintian(package, cache)
    folder = package.parent
    if not (folder / "SHA256SUMS").exists():
        print("package: there is no SHA256SUMS, so SBOM and checksums are NOT CHECKED")
        return
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    subprocess.run([python(cache), "-c", VALIDATE, next(folder.glob("*.cdx.json"))], check=True)
    print("package: the checksums are right, and the SBOM is valid CycloneDX 1.5", flush=True)


def check_paths(package: pathlib.Path, repository: pathlib.Path, is_built: bool) -> None:
    """The binary contains no path of the machine that has built it."""
    if not is_built:
        print("package: release/build has not built the binary, so the paths in it are NOT CHECKED", flush=True)
        return
    listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(listed)) as files:
        binary = files.extractfile("./usr/bin/garth").read()
    cargo = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")).resolve()
    for folder in (repository, cargo):
        assert f"{folder}/".encode() not in binary, f"the binary contains paths below {folder}"
    print("package: the binary contains no path of the builder", flush=True)


def run_lintian(package: pathlib.Path, cache: pathlib.Path) -> None:
    system = cache / "lintian"
    if not system.exists():
        print(f"package: installing lintian from Debian's packages into {system}", flush=True)
        new = cache / "lintian.new"
        shutil.rmtree(new, ignore_errors=True)
        subprocess.run(["cp", "-a", cache / "base", new], check=True)
        shutil.copy("/etc/resolv.conf", new / "etc/resolv.conf")
        root.run(new, "apt-get", "update", "-qq")
        root.run(new, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "lintian")
        new.rename(system)
    copy = system / "tmp" / package.name
    shutil.copy(package, copy)
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]
    tags = root.run(system, *command, f"/tmp/{copy.name}")
    copy.unlink()
    print(f"package: lintian reports no errors or warnings\n{tags}".strip(), flush=True)


def python(cache: pathlib.Path) -> pathlib.Path:
    """A Python environment with the validator."""
    environment = cache / "python"
    if not (environment / "done").exists():
        print(f"package: installing {VALIDATOR} from Python's registry into {environment}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([environment / "bin/pip", "install", "--quiet", VALIDATOR], check=True)
        (environment / "done").touch()
    return environment / "bin/python"
