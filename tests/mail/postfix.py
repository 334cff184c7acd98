"""A Postfix server on free ports of 127.0.0.1, from the files of Debian's package."""
import glob
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

# Postfix needs a user and a group that no other of its processes uses. The package would create them. These two exist
# on every Debian system.
OWNER, GROUP = "uucp", "irc"
# The number of the user and of the group that own mailboxes. On Debian, they own no other files.
MAILBOX_OWNER = 65534
QUEUES = ["active", "bounce", "corrupt", "defer", "deferred", "flush", "hold", "incoming", "private", "saved", "trace"]

MAIN = """compatibility_level = 3.6
command_directory = {package}/usr/sbin
daemon_directory = {package}/usr/lib/postfix/sbin
shlib_directory = {package}/usr/lib/postfix
queue_directory = {folder}/spool
data_directory = {folder}/data
mail_owner = {owner}
setgid_group = {group}
default_privs = games
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.example.net
mydestination =
relay_domains = desk.example.net
relay_recipient_maps =
recipient_delimiter = +
message_size_limit = 31457280
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
import_environment = MAIL_CONFIG={folder}/etc LD_LIBRARY_PATH={package}/usr/lib/postfix
transport_maps = inline:{{ desk.example.net=lmtp:inet:127.0.0.1:{lmtp_port} }}
default_transport = discard:
virtual_mailbox_domains = home.example.org
virtual_mailbox_base = {folder}/mailboxes
virtual_mailbox_maps = inline:{{ reader@home.example.org=reader/ }}
virtual_uid_maps = static:{mailbox_owner}
virtual_gid_maps = static:{mailbox_owner}
# Postfix accepts mails to unknown users, and returns them.
smtpd_reject_unlisted_recipient = no
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
transport_retry_time = 1s
smtputf8_enable = no
alias_maps =
alias_database =
"""

# The lines of the original master.cf that a server without local users needs.
MASTER = """{smtp_port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
proxymap unix - - n - - proxymap
lmtp unix - - n - - lmtp
smtp unix - - n - - smtp
virtual unix - n n - - virtual
scache unix - - n - 1 scache
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix:
    """The end of its `with` statement stops it."""

    def __init__(self, package, lmtp_port, port):
        if os.geteuid() != 0:
            raise SystemExit("tests/mail/run needs root: Postfix changes the user of its processes")
        self.package = os.path.abspath(package)
        # Postfix limits the length of the paths of its sockets.
        self.folder = tempfile.mkdtemp(prefix="garth-mail-")
        os.chmod(self.folder, 0o755)
        self.port = port
        values = {
            "package": self.package, "folder": self.folder, "owner": OWNER, "group": GROUP,
            "mailbox_owner": MAILBOX_OWNER, "lmtp_port": lmtp_port, "smtp_port": f"127.0.0.1:{self.port}",
        }
        os.mkdir(f"{self.folder}/etc")
        for name, text in (("main.cf", MAIN), ("master.cf", MASTER)):
            with open(f"{self.folder}/etc/{name}", "w") as file:
                file.write(text.format(**values))
        self.make_queues()
        self.environment = {
            "PATH": os.environ["PATH"], "MAIL_CONFIG": f"{self.folder}/etc",
            "LD_LIBRARY_PATH": f"{self.package}/usr/lib/postfix",
        }

    def make_queues(self):
        owner, group = pwd.getpwnam(OWNER).pw_uid, grp.getgrnam(GROUP).gr_gid
        os.mkdir(f"{self.folder}/spool")
        os.mkdir(f"{self.folder}/spool/pid")
        os.mkdir(f"{self.folder}/data", 0o700)
        os.chown(f"{self.folder}/data", owner, -1)
        os.mkdir(f"{self.folder}/mailboxes", 0o700)
        os.chown(f"{self.folder}/mailboxes", MAILBOX_OWNER, MAILBOX_OWNER)
        for queue in QUEUES:
            os.mkdir(f"{self.folder}/spool/{queue}", 0o700)
            os.chown(f"{self.folder}/spool/{queue}", owner, -1)
        for queue, mode in (("maildrop", 0o730), ("public", 0o710)):
            os.mkdir(f"{self.folder}/spool/{queue}")
            os.chown(f"{self.folder}/spool/{queue}", owner, group)
            os.chmod(f"{self.folder}/spool/{queue}", mode)

    def __enter__(self):
        command = [f"{self.package}/usr/lib/postfix/sbin/master", "-c", f"{self.folder}/etc", "-d"]
        # A process group, because master ends its processes by signalling its group.
        self.process = subprocess.Popen(command, env=self.environment, start_new_session=True)
        return self

    def wait_until_listening(self, seconds=30):
        end = time.monotonic() + seconds
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=30).close()
            except ConnectionRefusedError:
                assert time.monotonic() < end, f"Postfix does not listen: {self.log()}"
                time.sleep(0.1)

    def __exit__(self, failure, *_):
        if failure is not None:
            print(self.log(), file=sys.stderr)
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        try:
            with open(f"{self.folder}/log") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def mailbox(self, name):
        """The messages in a mailbox, oldest first."""
        paths = glob.glob(f"{self.folder}/mailboxes/{name}/new/*")
        messages = []
        for path in sorted(paths, key=os.path.getmtime):
            with open(path, "rb") as file:
                messages.append(file.read())
        return messages

    def queued(self):
        """The number of messages that are not delivered."""
        count = 0
        for queue in ("maildrop", "incoming", "active", "deferred"):
            for _, _, files in os.walk(f"{self.folder}/spool/{queue}"):
                count += len(files)
        return count

    def wait_until_delivered(self, seconds=120):
        end = time.monotonic() + seconds
        while self.queued():
            assert time.monotonic() < end, f"{self.queued()} messages are in the queue"
            time.sleep(0.2)
