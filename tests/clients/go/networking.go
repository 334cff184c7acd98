package main

import (
	"strings"

	"github.com/linode/linodego"
)

func address(ip linodego.InstanceIP) string { return ip.Address }

func addresses(s *session) {
	instance := s.deployed("web-1")
	own := instance.IPv4[0].String()
	all := must(s.GetInstanceIPAddresses(s, instance.ID))
	equal(all.IPv4.Public[0].Address, own)
	expect(all.IPv4.Private != nil && all.IPv4.Shared != nil && all.IPv4.Reserved != nil, "missing lists: %v", all.IPv4)
	expect(strings.HasPrefix(instance.IPv6, all.IPv6.SLAAC.Address), "%v is not %v", all.IPv6.SLAAC, instance.IPv6)

	ip := must(s.GetIPAddress(s, own))
	equal(ip.LinodeID, instance.ID)
	equal(ip.Type, linodego.IPTypeIPv4)
	expect(ip.Public && ip.Prefix == 24 && ip.Region == region && ip.Gateway != "" && !ip.Reserved, "%v", ip)
	usual := ip.RDNS
	equal(must(s.UpdateIPAddress(s, own, linodego.IPAddressUpdateOptions{RDNS: pointer("web.example.com")})).RDNS, "web.example.com")
	equal(must(s.GetInstanceIPAddress(s, instance.ID, own)).RDNS, "web.example.com")
	equal(must(s.UpdateInstanceIPAddress(s, instance.ID, own, linodego.IPAddressUpdateOptions{})).RDNS, usual)
	changed := must(s.UpdateIPAddressV2(s, own, linodego.IPAddressUpdateOptionsV2{RDNS: pointer(pointer("www.example.com"))}))
	equal(changed.RDNS, "www.example.com")
	_, err := s.UpdateIPAddress(s, own, linodego.IPAddressUpdateOptions{RDNS: pointer("not a name")})
	s.refused(err, 400, "rdns")

	second := must(s.AddInstanceIPAddress(s, instance.ID, true))
	third := must(s.AllocateReserveIP(s, linodego.AllocateReserveIPOptions{Type: "ipv4", Public: true, LinodeID: instance.ID}))
	private := must(s.AddInstanceIPAddress(s, instance.ID, false))
	expect(!private.Public, "%v", private)
	equal(len(must(s.GetInstance(s, instance.ID)).IPv4), 4)
	ipv4 := filter(map[string]any{"type": "ipv4"})
	expect(len(must(s.ListIPAddresses(s, nil))) >= len(must(s.ListIPAddresses(s, ipv4))), "the filter adds addresses")
	ofRegion := must(s.ListIPAddresses(s, filter(map[string]any{"address": second.Address})))
	equal(names(ofRegion, address), second.Address)
	query := &linodego.ListOptions{QueryParams: linodego.ListIPAddressesQuery{SkipIPv6RDNS: true}}
	expect(len(must(s.ListIPAddresses(s, query))) >= 4, "addresses are missing")
	done(s.DeleteInstanceIPAddress(s, instance.ID, third.Address))
	_, err = s.GetIPAddress(s, third.Address)
	notFound(err)
	equal(len(must(s.ListIPv6Ranges(s, nil))), 0)
	equal(len(must(s.ListIPv6Pools(s, nil))), 0)
	equal(len(must(s.ListReservedIPAddresses(s, nil))), 0)
	_, err = s.ReserveIPAddress(s, linodego.ReserveIPOptions{Region: region})
	s.refused(err, 400, "not_offered")

	done(s.DeleteInstance(s, instance.ID))
	_, err = s.GetIPAddress(s, own)
	notFound(err)
}

func tagLabel(tag linodego.Tag) string { return tag.Label }

func tags(s *session) {
	one, two := s.instanceWith("web-1"), s.instanceWith("web-2")
	equal(must(s.CreateTag(s, linodego.TagCreateOptions{Label: "public-facing", Linodes: []int{one.ID, two.ID}})).Label, "public-facing")
	equal(must(s.CreateTag(s, linodego.TagCreateOptions{Label: "empty"})).Label, "empty")
	must(s.UpdateInstance(s, two.ID, linodego.InstanceUpdateOptions{Tags: pointer([]string{"public-facing", "spare"})}))
	equal(names(must(s.ListTags(s, nil)), tagLabel), "empty public-facing spare")
	sorted := must(must(s.ListTaggedObjects(s, "public-facing", nil)).SortedObjects())
	equal(names(sorted.Instances, instanceLabel), "web-1 web-2")
	equalJSON(must(s.GetInstance(s, one.ID)).Tags, []string{"public-facing"})
	_, err := s.ListTaggedObjects(s, "none-such", nil)
	notFound(err)
	done(s.DeleteTag(s, "public-facing"))
	equal(len(must(s.GetInstance(s, one.ID)).Tags), 0)
	equal(names(must(s.ListTags(s, nil)), tagLabel), "empty spare")
}
