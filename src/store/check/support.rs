//! Invariants of tickets, replies, notes and attachments.

use super::invariant::Invariant;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "tickets count their replies",
        "SELECT 'ticket ' || t.id, 'counts ' || t.replies || ' replies, but has ' || count(r.id)
         FROM ticket t LEFT JOIN reply r ON r.ticket = t.id
         GROUP BY t.id, t.replies HAVING t.replies <> count(r.id) ORDER BY t.id",
    ),
    Invariant::query(
        "tickets count their notes",
        "SELECT 'ticket ' || t.id, 'counts ' || t.notes || ' notes, but has ' || count(n.id)
         FROM ticket t LEFT JOIN note n ON n.ticket = t.id
         GROUP BY t.id, t.notes HAVING t.notes <> count(n.id) ORDER BY t.id",
    ),
    Invariant::query(
        "a ticket has a closing time if and only if it is closed",
        "SELECT 'ticket ' || id, 'has the status ' || status || ', but is_closed or closed does not match it'
         FROM ticket
         WHERE (status = 'closed') <> (is_closed = 1) OR (is_closed = 1) <> (closed IS NOT NULL) ORDER BY id",
    ),
    Invariant::query(
        "merged tickets are closed, and another ticket of the account continues them",
        "SELECT 'ticket ' || t.id, 'is merged into ' || t.merged_into || ', which is impossible'
         FROM ticket t LEFT JOIN ticket g ON g.id = t.merged_into
         WHERE t.merged_into IS NOT NULL
             AND (t.is_closed = 0 OR g.id IS NULL OR g.id = t.id OR g.account <> t.account) ORDER BY t.id",
    ),
    Invariant::query(
        "the history of a ticket refers to parts of the ticket",
        "SELECT 'ticket ' || h.ticket, 'has the history step ' || h.id || ', which refers to another ticket'
         FROM ticket_history h LEFT JOIN reply r ON r.id = h.reply LEFT JOIN note n ON n.id = h.note
         LEFT JOIN attachment a ON a.id = h.attachment
         WHERE r.ticket <> h.ticket OR n.ticket <> h.ticket OR a.ticket <> h.ticket ORDER BY h.id",
    ),
    Invariant::query(
        "attachments have a size, a hash and a verification time",
        "SELECT 'attachment ' || a.id, CASE WHEN c.attachment IS NULL THEN 'has no verification time'
                 ELSE 'has an invalid size or hash' END
         FROM attachment a LEFT JOIN attachment_check c ON c.attachment = a.id
         WHERE c.attachment IS NULL OR a.size < 0 OR length(a.sha256) <> 64 ORDER BY a.id",
    ),
    Invariant::query(
        "a file is an attachment or an upload, not both",
        "SELECT 'attachment ' || a.id, 'has a file that is also an upload'
         FROM attachment a JOIN upload u ON u.file_key = a.file_key ORDER BY a.id",
    ),
    Invariant::query(
        "a mail has a sending time if and only if it was sent",
        "SELECT 'mail ' || id, 'has the state ' || state || ', but its sending time does not match it'
         FROM outgoing_mail WHERE (state IN ('sent', 'bounced')) <> (sent IS NOT NULL) ORDER BY id",
    ),
    Invariant::query(
        "a mail that is not sent yet has a job",
        "SELECT 'mail ' || m.id, 'has the state ' || m.state || ', but no job' FROM outgoing_mail m
         WHERE m.state IN ('queued', 'sending')
             AND NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = 'mail_send' AND j.subject = CAST(m.id AS TEXT))
         ORDER BY m.id",
    ),
    Invariant::query(
        "saved views without an owner are shared",
        "SELECT 'saved view ' || id, 'has no owner, but is not shared' FROM saved_view
         WHERE owner IS NULL AND is_shared = 0 ORDER BY id",
    ),
];
