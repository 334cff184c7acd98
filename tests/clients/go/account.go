package main

import (
	"slices"

	"github.com/linode/linodego"
)

func accountAndSettings(s *session) {
	account := must(s.GetAccount(s))
	expect(account.EUUID != "" && account.Capabilities != nil && account.ActiveSince != nil, "%v", account)
	changed := must(s.UpdateAccount(s, linodego.AccountUpdateOptions{
		Company: "Example Ltd", FirstName: "Ada", City: "London", Country: "GB", Email: "billing@example.com",
	}))
	equal(changed.Company+changed.City+changed.Country, "Example LtdLondonGB")
	equal(must(s.GetAccount(s)).Email, "billing@example.com")

	settings := must(s.GetAccountSettings(s))
	options := linodego.AccountSettingsUpdateOptions{}
	options.NetworkHelper = pointer(!settings.NetworkHelper)
	equal(must(s.UpdateAccountSettings(s, options)).NetworkHelper, !settings.NetworkHelper)
	equal(must(s.GetAccountSettings(s)).NetworkHelper, !settings.NetworkHelper)

	available := must(s.GetAccountAvailability(s, region))
	expect(available.Region == region && available.Unavailable != nil, "%v", available)
	expect(slices.Contains(available.Available, "Linodes"), "%v", available)
	expect(len(must(s.ListAccountAvailabilities(s, nil))) > 1, "no regions")
	transfer := must(s.GetAccountTransfer(s))
	expect(transfer.Used == 0 && transfer.RegionTransfers != nil, "%v", transfer)
	must(s.GetAccountAgreements(s))
	expect(len(must(s.GetUserAccountPermissions(s, "admin"))) > 0, "no permissions")
	expect(len(must(s.ListMaintenancePolicies(s, nil))) > 0, "no maintenance policies")
}

func catalog(s *session) {
	regions := must(s.ListRegions(s, nil))
	for _, one := range regions {
		expect(one.Status == "ok" && one.Country != "" && one.Resolvers.IPv4 != "" && one.Resolvers.IPv6 != "", "%v", one)
	}
	at := slices.IndexFunc(regions, func(one linodego.Region) bool { return one.ID == region })
	expect(slices.Contains(regions[at].Capabilities, "VPCs") && slices.Contains(regions[at].Capabilities, "Linodes"), "%v", regions[at])
	equal(must(s.GetRegion(s, region)).Label, regions[at].Label)
	vpcs := must(s.ListRegionsVPCAvailability(s, nil))
	expect(slices.ContainsFunc(vpcs, func(one linodego.RegionVPCAvailability) bool { return one.Region == region && one.Available }), "%v", vpcs)
	expect(must(s.GetRegionVPCAvailability(s, region)).Available, "no VPCs in %s", region)
	must(s.ListRegionsAvailability(s, nil))
	must(s.GetRegionAvailability(s, region))
	_, err := s.GetRegion(s, "no-where")
	notFound(err)

	types := must(s.ListTypes(s, nil))
	expect(slices.ContainsFunc(types, func(one linodego.LinodeType) bool { return one.ID == plan }), "%v", types)
	nanode := must(s.GetType(s, plan))
	expect(nanode.Class == linodego.ClassNanode && nanode.Memory == 1024 && nanode.Price.Hourly > 0 && nanode.Addons != nil, "%v", nanode)
	small := must(s.ListTypes(s, filter(map[string]any{"class": "nanode"})))
	expect(slices.ContainsFunc(small, func(one linodego.LinodeType) bool { return one.ID == plan }), "%v", small)
	expect(len(small) < len(types), "the filter has no effect")
	_, err = s.GetType(s, "none")
	notFound(err)

	images := must(s.ListImages(s, nil))
	expect(slices.ContainsFunc(images, func(one linodego.Image) bool { return one.ID == image && one.IsPublic }), "%v", images)
	expect(len(must(s.ListImages(s, filter(map[string]any{"vendor": "Alpine"})))) > 1, "fewer than two images of Alpine")
	debian := must(s.GetImage(s, image))
	expect(debian.Vendor == "Debian" && debian.Size > 0 && debian.Created != nil, "%v", debian)

	kernels := must(s.ListKernels(s, nil))
	equal(len(kernels) > 0, true)
	kernel := must(s.GetKernel(s, "linode/latest-64bit"))
	expect(kernel.KVM && kernel.Architecture == "x86_64", "%v", kernel)
	_, err = s.GetKernel(s, "linode/none")
	notFound(err)
}
