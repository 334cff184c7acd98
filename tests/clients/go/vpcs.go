package main

import (
	"github.com/linode/linodego"
)

func (s *session) vpc(label string, ranges ...string) *linodego.VPC {
	options := linodego.VPCCreateOptions{Label: label, Region: region}
	for at, ipv4 := range ranges {
		subnet := linodego.VPCSubnetCreateOptions{Label: "subnet-" + string(rune('a'+at)), IPv4: ipv4}
		options.Subnets = append(options.Subnets, subnet)
	}
	return must(s.CreateVPC(s, options))
}

func vpcLabel(vpc linodego.VPC) string             { return vpc.Label }
func subnetLabel(subnet linodego.VPCSubnet) string { return subnet.Label }

func vpcs(s *session) {
	equal(len(must(s.ListVPCs(s, nil))), 0)
	one := s.vpc("vpc-one", "10.0.0.0/24", "10.0.1.0/24")
	equal(one.Region, region)
	equal(names(one.Subnets, subnetLabel), "subnet-a subnet-b")
	expect(one.Created != nil && !one.Created.IsZero() && one.Updated != nil, "no times: %v", one)
	two := must(s.CreateVPC(s, linodego.VPCCreateOptions{Label: "vpc-two", Region: "eu-west", Description: "Second"}))
	equal(two.Description, "Second")
	equalJSON(must(s.GetVPC(s, one.ID)), one)

	equal(names(must(s.ListVPCs(s, nil)), vpcLabel), "vpc-one vpc-two")
	for value, labels := range map[string]string{
		`{"label":"vpc-two"}`:                               "vpc-two",
		`{"region":"us-east"}`:                              "vpc-one",
		`{"label":{"+contains":"vpc"},"+order":"desc"}`:     "vpc-one vpc-two",
		`{"+order_by":"label","+order":"desc"}`:             "vpc-two vpc-one",
		`{"+and":[],"+order":"desc"}`:                       "vpc-one vpc-two",
		`{"+or":[{"label":"vpc-one"},{"label":"vpc-two"}]}`: "vpc-one vpc-two",
		`{"label":"none"}`:                                  "",
	} {
		found := must(s.ListVPCs(s, linodego.NewListOptions(0, value)))
		expect(names(found, vpcLabel) == labels, "%s: %v", value, names(found, vpcLabel))
	}
	built := linodego.And(linodego.Descending, "id", &linodego.Comp{Column: "id", Operator: linodego.Gte, Value: one.ID})
	found := must(s.ListVPCs(s, linodego.NewListOptions(0, string(must(built.MarshalJSON())))))
	equal(names(found, vpcLabel), "vpc-two vpc-one")

	changed := one.GetUpdateOptions()
	changed.Label, changed.Description = "vpc-new", "Changed"
	updated := must(s.UpdateVPC(s, one.ID, changed))
	equal(updated.Label+updated.Description, "vpc-newChanged")
	equal(len(updated.Subnets), 2)

	_, err := s.CreateVPC(s, linodego.VPCCreateOptions{Label: "vpc-two", Region: region})
	s.refused(err, 400, "label")
	_, err = s.CreateVPC(s, linodego.VPCCreateOptions{Label: "no_underscores!", Region: region})
	s.refused(err, 400, "label")
	_, err = s.CreateVPC(s, linodego.VPCCreateOptions{Label: "elsewhere", Region: "no-where"})
	s.refused(err, 400, "region")
	for _, vpc := range []int{one.ID, two.ID} {
		done(s.DeleteVPC(s, vpc))
		_, err := s.GetVPC(s, vpc)
		notFound(err)
	}
}

func subnets(s *session) {
	vpc := s.vpc("vpc-one")
	first := must(s.CreateVPCSubnet(s, linodego.VPCSubnetCreateOptions{Label: "first", IPv4: "10.0.0.0/24"}, vpc.ID))
	second := must(s.CreateVPCSubnet(s, linodego.VPCSubnetCreateOptions{Label: "second", IPv4: "10.0.1.0/24"}, vpc.ID))
	equal(first.IPv4, "10.0.0.0/24")
	expect(first.Linodes != nil && first.Databases != nil && first.Nodebalancers != nil, "missing lists: %v", first)
	equalJSON(must(s.GetVPCSubnet(s, vpc.ID, second.ID)), second)
	list := must(s.ListVPCSubnets(s, vpc.ID, filter(map[string]any{"+order_by": "label", "+order": "desc"})))
	equal(names(list, subnetLabel), "second first")
	list = must(s.ListVPCSubnets(s, vpc.ID, filter(map[string]any{"label": "first"})))
	equal(names(list, subnetLabel), "first")
	equal(must(s.UpdateVPCSubnet(s, vpc.ID, first.ID, linodego.VPCSubnetUpdateOptions{Label: "renamed"})).Label, "renamed")
	equal(names(must(s.GetVPC(s, vpc.ID)).Subnets, subnetLabel), "renamed second")

	_, err := s.CreateVPCSubnet(s, linodego.VPCSubnetCreateOptions{Label: "third", IPv4: "10.0.1.128/25"}, vpc.ID)
	s.refused(err, 400, "ipv4")
	_, err = s.CreateVPCSubnet(s, linodego.VPCSubnetCreateOptions{Label: "third", IPv4: "none"}, vpc.ID)
	s.refused(err, 400, "ipv4")
	_, err = s.UpdateVPCSubnet(s, vpc.ID, first.ID, linodego.VPCSubnetUpdateOptions{Label: "second"})
	s.refused(err, 400, "label")
	done(s.DeleteVPCSubnet(s, vpc.ID, second.ID))
	_, err = s.GetVPCSubnet(s, vpc.ID, second.ID)
	notFound(err)
	equal(only(s.ListVPCSubnets(s, vpc.ID, nil)).ID, first.ID)
}

func vpcAddresses(s *session) {
	vpc := s.vpc("vpc-one", "192.168.0.0/25")
	other := s.vpc("vpc-two", "10.0.0.0/24")
	var ids []int
	for at, subnet := range []int{vpc.Subnets[0].ID, vpc.Subnets[0].ID, other.Subnets[0].ID} {
		label := "web-" + string(rune('1'+at))
		options := linodego.InstanceConfigInterfaceCreateOptions{Purpose: linodego.InterfacePurposeVPC, SubnetID: &subnet}
		ids = append(ids, s.instanceWith(label, options).ID)
	}
	equal(len(must(s.ListAllVPCIPAddresses(s, nil))), 3)
	found := must(s.ListVPCIPAddresses(s, vpc.ID, nil))
	equal(names(found, func(ip linodego.VPCIP) string { return *ip.Address }), "192.168.0.2 192.168.0.3")
	first := found[0]
	equal(first.Gateway, "192.168.0.1")
	equal(first.Prefix, 25)
	equal(first.LinodeID, ids[0])
	equal(first.VPCID, vpc.ID)
	equal(first.SubnetID, vpc.Subnets[0].ID)
	expect(first.InterfaceID > 0 && first.ConfigID > 0 && *first.NAT1To1 == "", "%v", first)
	equal(len(must(s.ListAllVPCIPv6Addresses(s, filter(map[string]any{"linode_id": ids[0]})))), 0)
	equal(len(must(s.ListVPCIPv6Addresses(s, vpc.ID, nil))), 0)
	byInstance := only(s.ListAllVPCIPAddresses(s, filter(map[string]any{"linode_id": ids[2]})))
	equal(*byInstance.Address, "10.0.0.2")

	subnet := must(s.GetVPCSubnet(s, vpc.ID, vpc.Subnets[0].ID))
	equal(len(subnet.Linodes), 2)
	equal(subnet.Linodes[0].ID, ids[0])
	equal(*subnet.Linodes[0].Interfaces[0].ConfigID, first.ConfigID)
	s.refused(s.DeleteVPCSubnet(s, vpc.ID, subnet.ID), 400, "subnet_in_use")
	for _, id := range ids {
		done(s.DeleteInstance(s, id))
	}
	equal(len(must(s.ListAllVPCIPAddresses(s, nil))), 0)
	done(s.DeleteVPC(s, vpc.ID))
}
