"""TLS in both ways that operating.md describes: files that the service can read, and credentials."""
import re

from machine import wait_until
from service import SETTINGS, UNIT, Service

CERTIFICATE, KEY = "/etc/garth/cert.pem", "/etc/garth/key.pem"
URL = "https://localhost:8443"
DROP_IN = "/etc/systemd/system/garth.service.d"


def serve_with_tls(service: Service) -> None:
    settings = service.machine.path(SETTINGS)
    before = settings.read_text()
    service.set("listen", '"127.0.0.1:8443"')
    serve_with_files(service)
    serve_with_credentials(service)
    settings.write_text(before)
    service.machine.run("systemctl", "daemon-reload")
    service.machine.run("systemctl", "restart", "garth")


def serve_with_files(service: Service) -> None:
    """The group of the service can read the files, so a reload replaces the certificate."""
    machine = service.machine
    service.set("tls_cert", f'"{CERTIFICATE}"')
    service.set("tls_key", f'"{KEY}"')
    make_certificate(service, CERTIFICATE, KEY)
    machine.run("chgrp", "garth", CERTIFICATE, KEY)
    machine.run("chmod", "0640", CERTIFICATE, KEY)
    machine.run("systemctl", "restart", "garth")
    service.wait_until_ready(URL, "--cacert", CERTIFICATE)
    process = service.show("MainPID")
    make_certificate(service, CERTIFICATE, KEY)
    machine.run("systemctl", "reload", "garth")
    service.wait_until_ready(URL, "--cacert", CERTIFICATE)
    assert service.show("MainPID") == process, "the reload restarts the service"
    for name in ("tls_cert", "tls_key"):
        text = machine.path(SETTINGS).read_text()
        machine.path(SETTINGS).write_text(re.sub(rf"^(?={name} =)", "#", text, flags=re.MULTILINE))


def serve_with_credentials(service: Service) -> None:
    """Only root can read the files, and systemd passes them with the lines that are comments in the unit."""
    machine = service.machine
    make_certificate(service, "/etc/garth/tls-cert", "/etc/garth/tls-key")
    machine.run("chmod", "0600", "/etc/garth/tls-cert", "/etc/garth/tls-key")
    lines = re.findall(r"^#((?:LoadCredential=tls|Environment=GARTH_TLS).*)$", machine.path(UNIT).read_text(), re.MULTILINE)
    assert len(lines) == 4, f"the lines of the unit for TLS are {lines}"
    machine.run("mkdir", DROP_IN)
    machine.path(f"{DROP_IN}/tls.conf").write_text("\n".join(["[Service]", *lines, ""]))
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "garth")
    service.wait_until_ready(URL, "--cacert", "/etc/garth/tls-cert")
    # A crash: systemd starts the service again.
    process = service.show("MainPID")
    machine.run("kill", "-KILL", process)
    wait_until(lambda: service.show("MainPID") not in ("0", process), 30, "systemd does not restart the service")
    service.wait_until_ready(URL, "--cacert", "/etc/garth/tls-cert")
    machine.run("rm", "-r", DROP_IN)


def make_certificate(service: Service, certificate: str, key: str) -> None:
    """A new certificate for localhost. Existing files retain their owner and mode."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", certificate, "-keyout", key]
    service.machine.run(*command)
