"""Writes the SBOM of a release as CycloneDX 1.5 (JSON). release/build calls it: sbom.py ROOT FILE

The components are the crates that the binary is built from, with the checksums of Cargo.lock, and the C libraries that
some of these crates contain. Crates that only tests use are left out. Crates that only build scripts use have the scope
"excluded", because they are not part of the binary.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

# C libraries inside of crates: name, header with the version, license, vendor and product in CPE names.
C_LIBRARIES = {
    "libsqlite3-sys": ("sqlite", "sqlite3/sqlite3.h", "blessing", "sqlite:sqlite"),
    "libmimalloc-sys": ("mimalloc", "c_src/mimalloc/v3/include/mimalloc.h", "MIT", "microsoft:mimalloc"),
    "zstd-sys": ("zstd", "zstd/lib/zstd.h", "BSD-3-Clause OR GPL-2.0-only", "facebook:zstandard"),
}


def main() -> None:
    root, file = (pathlib.Path(argument) for argument in sys.argv[1:3])
    metadata = read_metadata(root)
    checksums = read_checksums(root / "Cargo.lock")
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    top = metadata["resolve"]["root"]
    linked = reachable(nodes, top, {None})
    built = reachable(nodes, top, {None, "build"})
    components, dependencies = [], []
    for identifier in sorted(built, key=lambda one: (packages[one]["name"], packages[one]["version"])):
        package = packages[identifier]
        needed = sorted(reference(packages[other]) for other in direct(nodes[identifier], {None, "build"}))
        if identifier != top:
            components.append(component(package, checksums, identifier in linked))
        if library := c_library(package):
            components.append(library)
            needed.append(library["bom-ref"])
        dependencies.append({"ref": reference(package), "dependsOn": needed})
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "",
        "version": 1,
        "metadata": {"timestamp": timestamp(), "component": application(packages[top])},
        "components": components,
        "dependencies": dependencies,
    }
    content = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, content).urn
    file.write_text(json.dumps(document, indent=2) + "\n")


def read_metadata(root: pathlib.Path) -> dict:
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    target = re.search(r"^host: (\S+)$", host, re.MULTILINE)[1]
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)


def read_checksums(lock: pathlib.Path) -> dict[tuple[str, str], str]:
    packages = tomllib.loads(lock.read_text())["package"]
    return {(one["name"], one["version"]): one["checksum"] for one in packages if "checksum" in one}


def direct(node: dict, kinds: set) -> list[str]:
    return [dep["pkg"] for dep in node["deps"] if any(kind["kind"] in kinds for kind in dep["dep_kinds"])]


def reachable(nodes: dict, top: str, kinds: set) -> set[str]:
    found, waiting = set(), [top]
    while waiting:
        identifier = waiting.pop()
        if identifier not in found:
            found.add(identifier)
            waiting += direct(nodes[identifier], kinds)
    return found


def reference(package: dict) -> str:
    # "+" begins build metadata, and is encoded in a purl.
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


def application(package: dict) -> dict:
    return {
        "type": "application",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "description": package["description"],
        "licenses": [{"expression": package["license"]}],
        "purl": reference(package),
    }


def component(package: dict, checksums: dict[tuple[str, str], str], is_linked: bool) -> dict:
    found = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "scope": "required" if is_linked else "excluded",
        "purl": reference(package),
    }
    if checksum := checksums.get((package["name"], package["version"])):
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if license := package.get("license"):
        # Old crates separate alternatives with a slash.
        found["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", license)}]
    if repository := package.get("repository"):
        found["externalReferences"] = [{"type": "vcs", "url": repository}]
    return found


def c_library(package: dict) -> dict | None:
    if package["name"] not in C_LIBRARIES:
        return None
    name, header, license, product = C_LIBRARIES[package["name"]]
    version = header_version((pathlib.Path(package["manifest_path"]).parent / header).read_text())
    return {
        "type": "library",
        "bom-ref": f"{reference(package)}#{name}",
        "name": name,
        "version": version,
        "description": f"C source in the crate {package['name']}",
        "scope": "required",
        "licenses": [{"expression": license}],
        "cpe": f"cpe:2.3:a:{product}:{version}:*:*:*:*:*:*:*",
        "purl": f"pkg:generic/{name}@{version}",
    }


def header_version(text: str) -> str:
    if found := re.search(r'#define SQLITE_VERSION\s+"([\d.]+)"', text):
        return found[1]
    if found := re.search(r"#define MI_MALLOC_VERSION\s+(\d+)(\d\d)(\d\d)\b", text):
        return ".".join(str(int(part)) for part in found.groups())
    parts = re.findall(r"#define ZSTD_VERSION_(?:MAJOR|MINOR|RELEASE)\s+(\d+)", text)
    assert len(parts) == 3, "the header of a C library has no version"
    return ".".join(parts)


def timestamp() -> str:
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
