"""Mails that Garth sends through Postfix: the customer's reply, the thread, and the report of Postfix on a bounce."""
import email
import email.policy
import email.utils
import time

from desk import ADDRESS, AUTHSERV_ID

DOMAIN = ADDRESS.split("@")[1]
HOME = "home.example.org"
READER = f"reader@{HOME}"
# Postfix has no mailbox with this name.
GONE = f"gone@{HOME}"
REPLY_ID = "<reply-of-the-customer@home.example.org>"
# The time between two mails about a ticket (docs/mail.md), and some more.
DIGEST_SECONDS = 60
WAIT_SECONDS = 60


def wait_for(what, condition, seconds=WAIT_SECONDS):
    """The first result of the condition that is not empty."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, f"{what}: not after {seconds} seconds"
        time.sleep(0.2)
    return result


def mails_to_reader(postfix, count, seconds=WAIT_SECONDS):
    """The mails in the mailbox of the reader, oldest first."""
    wait_for(f"{count} mails", lambda: len(postfix.mailbox("reader")) >= count, seconds)
    found = postfix.mailbox("reader")
    assert len(found) == count, f"{len(found)} mails, expected {count}"
    return [email.message_from_bytes(raw, policy=email.policy.SMTP) for raw in found]


def text_of(mail):
    return mail.get_body(("plain",)).get_content().replace("\r\n", "\n")


def reply_to(mail, text):
    """A reply as a mail program writes it, with a quote of the mail, after the mail server has verified the sender."""
    reply = email.message.EmailMessage(email.policy.SMTP)
    reply["Authentication-Results"] = f"{AUTHSERV_ID}; dmarc=pass header.from={HOME}"
    reply["From"] = f"Reader <{READER}>"
    reply["To"] = str(mail["Reply-To"] or mail["From"])
    reply["Subject"] = f"Re: {mail['Subject']}"
    reply["Message-ID"] = REPLY_ID
    reply["In-Reply-To"] = str(mail["Message-ID"])
    reply["References"] = f"{mail['References']} {mail['Message-ID']}"
    quoted = "".join(f"> {line}\n" for line in text_of(mail).splitlines())
    reply.set_content(f"{text}\n\nOn Mon, 16 Nov 2026, Support <{ADDRESS}> wrote:\n{quoted}")
    return reply.as_bytes()


class RoundTrip:
    """A ticket on which a customer and a member of staff write in turn. The second mail of Garth is due a minute after
    the first one, so that the test does other steps between `begin` and `end`."""

    def __init__(self, desk, postfix, send):
        self.desk, self.postfix, self.send = desk, postfix, send
        self.staff = desk.add_staff("grace@staff.example.org")

    def open(self, address):
        """A ticket of a customer, with a reply of staff. Returns its number and the token of the customer."""
        token = self.desk.add_user(address)
        body = {"summary": "Round trip", "description": "Help"}
        ticket = self.desk.send(token, "POST", "/support/tickets", body)["id"]
        self.answer(ticket, "Which VPC is it?")
        return ticket, token

    def answer(self, ticket, text):
        self.desk.send(self.staff, "POST", f"/desk/tickets/{ticket}/replies", {"description": text})

    def begin(self, counts):
        """The customer replies to Garth's mail, and the reply is on the ticket. The same mail, sent back, is not."""
        self.ticket, token = self.open(READER)
        [mail] = mails_to_reader(self.postfix, 1)
        [sent] = self.sent_mails(self.ticket, READER)
        thread = f"<ticket-{self.ticket}@{DOMAIN}>"
        found = [str(mail[name]) for name in ("Subject", "In-Reply-To", "References", "Auto-Submitted", "Reply-To")]
        address = self.desk.reply_address(self.ticket, READER)
        assert found == [f"[Garth #{self.ticket}] Round trip", thread, thread, "auto-generated", address], found
        assert mail["Return-Path"] == f"<{self.desk.bounce_address(sent['id'])}>", mail["Return-Path"]
        self.first = mail

        recipient = email.utils.parseaddr(str(mail["Reply-To"]))[1]
        self.send(self.postfix, READER, [recipient], reply_to(mail, "It is the VPC core."))
        self.send(self.postfix, READER, [recipient], mail.as_bytes())
        self.postfix.wait_until_delivered()
        replies = self.desk.send(token, "GET", f"/support/tickets/{self.ticket}/replies")["data"]
        texts = [reply["description"] for reply in replies]
        assert texts == ["Which VPC is it?", "It is the VPC core."], texts
        counts["accepted", "reply"] += 1
        counts["dropped", "loop"] += 1
        self.answer(self.ticket, "Thank you.")

    def end(self, counts):
        """Garth's next mail is in the same thread, below the reply of the customer."""
        _, mail = mails_to_reader(self.postfix, 2, DIGEST_SECONDS + WAIT_SECONDS)
        for name in ("Subject", "Reply-To", "From", "To"):
            assert mail[name] == self.first[name], f"{name}: {mail[name]}, before: {self.first[name]}"
        assert mail["Message-ID"] != self.first["Message-ID"], mail["Message-ID"]
        # The first entry is that of the first mail, and the last one that of the reply.
        references = str(mail["References"]).split()
        assert references == [*str(self.first["References"]).split(), REPLY_ID], references
        assert mail["In-Reply-To"] == REPLY_ID, mail["In-Reply-To"]
        text = text_of(mail)
        assert "Thank you." in text and "Which VPC" not in text, text

    def bounce(self, counts):
        """Postfix accepts a mail to an unknown user, and returns it. The address gets no more mails."""
        ticket, _ = self.open(GONE)
        state = lambda: [(mail["state"], mail["error"]) for mail in self.sent_mails(ticket, GONE)]
        wait_for("a bounce", lambda: state() and state()[0][0] == "bounced")
        assert state() == [("bounced", "5.1.1")], state()
        suppressed = [(row["address"], row["status"]) for row in self.desk.run("mail", "suppressed")]
        assert suppressed == [(GONE, "5.1.1")], suppressed
        self.postfix.wait_until_delivered()
        counts["accepted", "bounce"] += 1

    def sent_mails(self, ticket, address):
        return [mail for mail in self.desk.run("mail", "list", str(ticket)) if mail["address"] == address]
