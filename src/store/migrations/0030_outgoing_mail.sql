-- Since Garth 0.2.0.
-- Mails to send (decision 0045). A mail has no copy of its content: its notices name what happened on the ticket, and
-- the content is rendered when the mail is sent. `message_id` is the same for each attempt. `maybe_repeated` is set if
-- an earlier attempt ended without a known result. `error` has an SMTP status or a word, and never an address.

CREATE TABLE outgoing_mail (
    id {identity},
    kind {text} NOT NULL,
    ticket BIGINT REFERENCES ticket (id),
    recipient BIGINT REFERENCES app_user (id) ON DELETE SET NULL,
    address {text} NOT NULL,
    message_id {text} NOT NULL,
    state {text} NOT NULL,
    maybe_repeated BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    queued BIGINT NOT NULL,
    last_attempt BIGINT,
    sent BIGINT,
    error {text}
);
CREATE INDEX outgoing_mail_ticket ON outgoing_mail (ticket, recipient, id);
CREATE INDEX outgoing_mail_recipient ON outgoing_mail (recipient);

-- The notices of a mail, in their order. `reply` is set for the kind `reply`.

CREATE TABLE mail_notice (
    mail BIGINT NOT NULL REFERENCES outgoing_mail (id),
    place BIGINT NOT NULL,
    kind {text} NOT NULL,
    reply BIGINT REFERENCES reply (id),
    author {text} NOT NULL,
    PRIMARY KEY (mail, place)
){keyed};
CREATE INDEX mail_notice_reply ON mail_notice (reply);

-- Addresses, in lower case, to which no mail is sent, because a mail server has refused them permanently.

CREATE TABLE suppressed_address (
    id {identity},
    address {text} NOT NULL,
    status {text} NOT NULL,
    since BIGINT NOT NULL
);
CREATE UNIQUE INDEX suppressed_address_address ON suppressed_address (address);

-- Which mails a member of staff gets. Without a row: all.

CREATE TABLE staff_mail_choice (
    app_user {number_key} REFERENCES app_user (id) ON DELETE CASCADE,
    new_tickets BIGINT NOT NULL,
    assigned BIGINT NOT NULL,
    replies BIGINT NOT NULL
);

-- The Message-ID, to which mails about the ticket refer, so that mail programs show one thread.

ALTER TABLE received_mail ADD COLUMN message_id {text};
