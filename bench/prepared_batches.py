"""The kernel objects of a desired state as prepared batches: the fastest way to make them with ip, bridge and nft.

The batches have the commands of `garth agent plan`, grouped so that they need as few processes as possible.
"""

import re
import shlex
import subprocess

# A setting of one link, which must exist.
LINK_SETTING = re.compile(r"net[./]ipv[46][./](conf|neigh)[./](?!all[./]|default[./])")
STEP = re.compile(r"^(the host|[\w-]+): (ip|bridge|sysctl|nft) (.*)$")


def plan(lab, host, *options):
    """The steps of the agent of a host, as triples of namespace, program and text."""
    command = [*lab.command(host, "plan"), *options]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    steps = []
    for line in text.splitlines():
        found = STEP.match(line)
        if found:
            steps.append(found.groups())
        elif line.startswith("ip "):
            # A step with several lines.
            steps.append((steps[-1][0], "ip", line[3:]))
        else:
            namespace, program, rules = steps[-1]
            steps[-1] = (namespace, program, f"{rules}\n{line}")
    return steps


class Batches:
    """A script that makes the objects of a plan, without the filters if `with_filters` is false.

    With `is_removal`, a batch continues after a failure: the kernel deletes the other end of a pair by itself.
    """

    def __init__(self, lab, host, folder, with_filters, steps, is_removal=False):
        self.folder, self.lines, self.number, self.is_removal = folder, [], 0, is_removal
        at_host = f"h{host}"
        created, links, settings, link_settings, rules, inside = [], [], {}, {}, {}, {}
        for namespace, program, text in steps:
            place = at_host if namespace == "the host" else namespace
            if program == "ip" and text.startswith("netns "):
                created.append(text)
            elif program == "ip" and text.startswith("link add "):
                links.append(text)
            elif program == "sysctl":
                (link_settings if LINK_SETTING.match(text) else settings).setdefault(place, []).append(text)
            elif program == "nft":
                rules.setdefault(place, []).append(text.removeprefix("-f -\n"))
            else:
                inside.setdefault((place, program), []).append(text)
        # `ip -n` would create a mount namespace, in which new network namespaces would be lost.
        self.batch("ip", at_host, [text for text in created if text.startswith("netns add ")])
        for text in created:
            name = text.split()[2]
            if text.startswith("netns add ") and name.startswith("gi-"):
                # The agent marks the namespaces of instances in this way.
                inside.setdefault((name, "ip"), []).insert(0, f"link set lo alias h{host} up")
        self.set(settings)
        for place, texts in rules.items() if with_filters else ():
            self.lines.append(f"nsenter --net=/run/netns/{place} nft -f {shlex.quote(self.file(texts))}")
        self.batch("ip", at_host, links)
        self.set(link_settings)
        for (place, program), texts in inside.items():
            self.batch(program, place, texts)
        self.batch("ip", at_host, [text for text in created if text.startswith("netns delete ")])
        self.script = self.file([*self.lines, "exit 0"] if is_removal else ["set -e", *self.lines])

    def set(self, settings):
        for place, values in settings.items():
            self.lines.append(f"nsenter --net=/run/netns/{place} sysctl -q -w {' '.join(map(shlex.quote, values))}")

    def batch(self, program, place, texts):
        if texts:
            file, force = shlex.quote(self.file(texts)), "-force " if self.is_removal else ""
            self.lines.append(f"nsenter --net=/run/netns/{place} {program} {force}-batch {file}")

    def file(self, texts):
        self.number += 1
        path = f"{self.folder}/batch-{self.number}"
        with open(path, "w") as file:
            file.write("\n".join(texts) + "\n")
        return path

    def start(self):
        return subprocess.Popen(["sh", self.script], stderr=subprocess.PIPE, text=True)

    def run(self):
        finish(self.start())


def finish(process):
    errors = process.communicate()[1]
    assert process.returncode == 0, f"a prepared batch failed: {errors}"
