package main

import (
	"bytes"
	"fmt"

	"github.com/linode/linodego"
)

// send uses the client of linodego to send a request for which linodego has no function.
func (s *session) send(path string, body any) {
	response := must(s.R(s).SetBody(body).Post(path))
	expect(!response.IsError(), "%s: %s", path, response.Body())
}

func summary(ticket linodego.Ticket) string { return ticket.Summary }

// tickets reads tickets with linodego, which has no functions to open, answer and close them. send sends these requests.
func tickets(s *session) {
	equal(len(must(s.ListTickets(s, nil))), 0)
	vpc := s.vpc("vpc-one")
	var opened linodego.Ticket
	for _, body := range []map[string]any{
		{"summary": "Slow", "description": "It is slow."},
		{"summary": "About my VPC", "description": "Please check.", "vpc_id": vpc.ID},
	} {
		must(s.R(s).SetBody(body).SetResult(&opened).Post("support/tickets"))
	}
	list := must(s.ListTickets(s, filter(map[string]any{"+order_by": "id", "+order": "asc"})))
	equal(names(list, summary), "Slow About my VPC")
	equal(list[1].ID, opened.ID)
	ticket := must(s.GetTicket(s, opened.ID))
	equal(ticket.Status, linodego.TicketNew)
	equal(ticket.OpenedBy, "admin")
	equalJSON(ticket.Entity, linodego.TicketEntity{ID: vpc.ID, Label: "vpc-one", Type: "vpc", URL: fmt.Sprintf("/v4/vpcs/%d", vpc.ID)})

	path := fmt.Sprintf("support/tickets/%d", opened.ID)
	s.send(path+"/replies", map[string]any{"description": "Any news?"})
	file := bytes.NewReader([]byte("It is slow since noon.\n"))
	response := must(s.R(s).SetHeader("Content-Type", "").SetFileReader("file", "notes.txt", file).Post(path + "/attachments"))
	expect(!response.IsError(), "%s", response.Body())
	equalJSON(must(s.GetTicket(s, opened.ID)).Attachments, []string{"notes.txt"})
	var replies struct {
		Data []struct {
			Description string
			CreatedBy   string `json:"created_by"`
		}
	}
	must(s.R(s).SetResult(&replies).Get(path + "/replies"))
	equal(only(replies.Data, nil).Description, "Any news?")
	equal(replies.Data[0].CreatedBy, "admin")

	s.send(path+"/close", map[string]any{})
	equal(must(s.GetTicket(s, opened.ID)).Status, linodego.TicketClosed)
	equal(names(must(s.ListTickets(s, filter(map[string]any{"status": "closed"}))), summary), "About my VPC")
	uploads := must(s.ListEvents(s, filter(map[string]any{"action": "ticket_attachment_upload"})))
	equal(only(uploads, nil).Entity.Type, linodego.EntityTicket)
	_, err := s.GetTicket(s, 99999)
	notFound(err)
}
