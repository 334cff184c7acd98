"""A virtual machine: QEMU with a kernel and a small initial file system, both from Debian's packages."""

import fcntl
import glob
import os
import queue
import re
import shutil
import stat
import subprocess
import threading
import time

DRIVERS = ["virtio_pci", "virtio_net"]
# Runs the lines that arrive at the serial port, and prints the exit status after the output of each.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in {modules}; do insmod /modules/$module.ko; done
ip link set lo up
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
echo '#status 0'
while read -r line; do
    (eval "$line")
    echo "#status $?"
done
"""
DHCP_SCRIPT = """#!/bin/busybox sh
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip -4 addr flush dev $interface
ip addr add $ip/$mask dev $interface
[ -z "$mtu" ] || ip link set $interface mtu $mtu
[ -z "$router" ] || ip route replace default via $router dev $interface
"""
START_SECONDS = 120
GET_API_VERSION = 0xAE00


def prepare(folder):
    """Unpacks the packages and writes the initial file system. Returns the kernel and the file system."""
    kernel, initial = f"{folder}/vmlinuz", f"{folder}/initial.cpio"
    if not (os.path.exists(kernel) and os.path.exists(f"{folder}/unpacked/bin/busybox")):
        unpack(folder)
        shutil.copy(glob.glob(f"{folder}/unpacked/boot/vmlinuz-*")[0], kernel)
    with open(initial, "wb") as file:
        file.write(file_system(f"{folder}/unpacked"))
    return kernel, initial


def unpack(folder):
    """The packages are not installed: a kernel would change the boot loader."""
    described = output("apt-cache", "depends", "linux-image-cloud-amd64")
    image = re.search(r"Depends: (linux-image-\S+)", described)
    assert image, f"apt-cache names no kernel package:\n{described}"
    packages = [image[1], "busybox-static"]
    print(f"unpacking {' and '.join(packages)} of Debian's packages into {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", *packages]
    subprocess.run(command, cwd=folder, check=True)
    for package in glob.glob(f"{folder}/*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, f"{folder}/unpacked"], check=True)
        os.remove(package)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def file_system(unpacked):
    """A cpio archive, which the kernel unpacks into memory."""
    modules = modules_of_drivers(unpacked)
    entries = [("dev/console", stat.S_IFCHR | 0o600, b"")]
    entries += [(name, stat.S_IFDIR | 0o755, b"") for name in ("bin", "dev", "modules", "proc", "sys")]
    files = [("init", INIT.format(modules=" ".join(modules)).encode()), ("dhcp", DHCP_SCRIPT.encode())]
    files.append(("bin/busybox", read(f"{unpacked}/bin/busybox")))
    files += [(f"modules/{name}.ko", content) for name, content in modules.items()]
    entries += [(name, stat.S_IFREG | 0o755, content) for name, content in files]
    # A folder comes before its files.
    entries.sort()
    return b"".join(entry(number, *found) for number, found in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1))


def modules_of_drivers(unpacked):
    """The drivers and the modules that they need, each after its dependencies, which differ between kernels."""
    paths = {os.path.basename(path)[:-3]: path for path in glob.glob(f"{unpacked}/lib/modules/*/kernel/**/*.ko", recursive=True)}
    found = {}

    def add(name):
        content = read(paths[name])
        dependencies = re.search(rb"\0depends=([^\0]*)\0", content)[1].decode()
        for dependency in filter(None, dependencies.split(",")):
            if dependency not in found:
                add(dependency)
        found[name] = content

    for driver in DRIVERS:
        add(driver)
    return found


def entry(number, name, mode, content):
    """An entry of the format "newc". The only device is the console: 5, 1."""
    device = (5, 1) if stat.S_ISCHR(mode) else (0, 0)
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return padded(head) + padded(content)


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def accelerator():
    """KVM if this machine has it, else software emulation. A device without a capable processor is not enough."""
    with open("/proc/cpuinfo") as file:
        flags = set(file.read().split())
    if not flags & {"vmx", "svm"}:
        return "tcg"
    try:
        with open("/dev/kvm", "rb") as device:
            fcntl.ioctl(device, GET_API_VERSION)
            return "kvm"
    except OSError:
        return "tcg"


class Guest:
    """A running virtual machine whose only network interface is a tap device of the agent."""

    def __init__(self, kernel, initial, namespace, tap, mac, log):
        network = ["-netdev", f"tap,id=net,ifname={tap},script=no,downscript=no"]
        network += ["-device", f"virtio-net-pci,netdev=net,mac={mac},romfile="]
        command = ["nsenter", f"--net=/run/netns/{namespace}", "qemu-system-x86_64", "-accel", accelerator()]
        command += ["-m", "256", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]
        command += ["-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial"]
        command += ["-kernel", kernel, "-initrd", initial, "-append", "console=ttyS0 quiet panic=-1", *network]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "a"), bufsize=0
        )
        self.log = log
        self.lines = queue.Queue()
        threading.Thread(target=self.read_lines, daemon=True).start()
        self.wait_for_status(START_SECONDS)

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line.decode(errors="replace").strip())
        self.lines.put(None)

    def run(self, command, seconds=30):
        """Runs a line in the shell of the machine. Returns its status and its output."""
        self.process.stdin.write(command.encode() + b"\n")
        return self.wait_for_status(seconds)

    def succeeds(self, command, seconds=30):
        return self.run(command, seconds)[0] == 0

    def wait_for_status(self, seconds):
        deadline, found = time.monotonic() + seconds, []
        while True:
            try:
                line = self.lines.get(timeout=max(deadline - time.monotonic(), 0.01))
            except queue.Empty:
                raise AssertionError(f"the machine did not answer within {seconds} s: {found[-20:]}") from None
            assert line is not None, f"the machine ended: {found[-20:]} {read(self.log)[-1000:]}"
            if line.startswith("#status "):
                return int(line.split()[1]), "\n".join(found)
            found.append(line)

    def stop(self):
        self.process.kill()
        self.process.wait()
