package main

import (
	"time"

	"github.com/linode/linodego"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqkHPoX9YgFVE6ezgT5hTAGrRX8MyyYFtAWCXEp6Wu2 ada@example.com"

func profileAndKeys(s *session) {
	profile := must(s.GetProfile(s))
	expect(profile.Username == "admin" && profile.UID == 1 && !profile.Restricted, "%v", profile)
	changed := profile.GetUpdateOptions()
	changed.Email, changed.Timezone = "root@example.com", "Europe/Berlin"
	updated := must(s.UpdateProfile(s, changed))
	equal(updated.Email+updated.Timezone, "root@example.comEurope/Berlin")
	must(s.UpdateProfilePreferences(s, linodego.ProfilePreferences{"theme": "dark"}))
	equal((*must(s.GetProfilePreferences(s)))["theme"], any("dark"))
	must(s.GrantsList(s))
	equal(len(must(s.ListProfileApps(s, nil))), 0)
	_, err := s.GetProfileApp(s, 99999)
	notFound(err)
	equal(len(must(s.ListProfileDevices(s, nil))), 0)
	expect(len(must(s.SecurityQuestionsList(s)).SecurityQuestions) > 0, "no security questions")
	equal(len(must(s.ListProfileLogins(s, nil))), 0)
	equal(len(must(s.ListLogins(s, nil))), 0)
	_, err = s.GetLogin(s, 99999)
	notFound(err)

	key := must(s.CreateSSHKey(s, linodego.SSHKeyCreateOptions{Label: "laptop", SSHKey: publicKey}))
	equal(key.SSHKey, publicKey)
	expect(key.Created != nil, "no time: %v", key)
	equalJSON(must(s.GetSSHKey(s, key.ID)), key)
	equal(must(s.UpdateSSHKey(s, key.ID, linodego.SSHKeyUpdateOptions{Label: "desktop"})).Label, "desktop")
	equal(only(s.ListSSHKeys(s, nil)).Label, "desktop")
	equalJSON(must(s.GetUser(s, "admin")).SSHKeys, []string{"desktop"})
	instance := must(s.CreateInstance(s, linodego.InstanceCreateOptions{
		Region: region, Type: plan, Label: "web-1", Image: image, AuthorizedUsers: []string{"admin"},
	}))
	must(s.WaitForInstanceStatus(s, instance.ID, linodego.InstanceRunning, wait))
	_, err = s.CreateSSHKey(s, linodego.SSHKeyCreateOptions{Label: "bad", SSHKey: "no key"})
	s.refused(err, 400, "ssh_key")
	done(s.DeleteSSHKey(s, key.ID))
	_, err = s.GetSSHKey(s, key.ID)
	notFound(err)
}

func tokensAndClients(s *session) {
	expiry := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	options := linodego.TokenCreateOptions{Label: "script", Scopes: "vpc:read_only", Expiry: &expiry}
	token := must(s.CreateToken(s, options))
	equal(len(token.Token), 64)
	expect(token.Expiry.Equal(expiry), "%v is not %v", token.Expiry, expiry)
	read := must(s.GetToken(s, token.ID))
	equal(read.Token, token.Token[:16])
	equal(must(s.UpdateToken(s, token.ID, linodego.TokenUpdateOptions{Label: "cron"})).Label, "cron")
	forever := must(s.CreateToken(s, linodego.TokenCreateOptions{Label: "forever", Scopes: "*"}))
	equal(only(s.ListTokens(s, filter(map[string]any{"label": "cron"}))).ID, token.ID)

	limited := linodego.NewClient(nil)
	limited.SetBaseURL(s.root).SetToken(token.Token)
	must(limited.ListVPCs(s, nil))
	_, err := limited.CreateVPC(s, linodego.VPCCreateOptions{Label: "vpc-one", Region: region})
	expect(linodego.ErrHasStatus(err, 401), "expected 401: %v", err)
	for _, id := range []int{token.ID, forever.ID} {
		done(s.DeleteToken(s, id))
		_, err := s.GetToken(s, id)
		notFound(err)
	}
	_, err = limited.ListVPCs(s, nil)
	expect(linodego.ErrHasStatus(err, 401), "expected 401: %v", err)

	client := must(s.CreateOAuthClient(s, linodego.OAuthClientCreateOptions{Label: "Tool", RedirectURI: "https://tool.example.com/callback"}))
	expect(len(client.Secret) == 64 && !client.Public && client.Status == linodego.OAuthClientActive, "%v", client)
	equal(must(s.GetOAuthClient(s, client.ID)).Secret, "<REDACTED>")
	changed := client.GetUpdateOptions()
	changed.Label = "Better tool"
	equal(must(s.UpdateOAuthClient(s, client.ID, changed)).Label, "Better tool")
	expect(must(s.ResetOAuthClientSecret(s, client.ID)).Secret != client.Secret, "the secret did not change")
	equal(only(s.ListOAuthClients(s, nil)).ID, client.ID)
	done(s.DeleteOAuthClient(s, client.ID))
	_, err = s.GetOAuthClient(s, client.ID)
	notFound(err)
}

func usersAndGrants(s *session) {
	user := must(s.CreateUser(s, linodego.UserCreateOptions{Username: "ada", Email: "ada@example.com", Restricted: true}))
	expect(user.Restricted && user.SSHKeys != nil, "%v", user)
	updated := must(s.UpdateUser(s, "ada", linodego.UserUpdateOptions{Email: "eda@example.com"}))
	equal(updated.Email, "eda@example.com")
	all := must(s.ListUsers(s, nil))
	equal(names(all, func(user linodego.User) string { return user.Username }), "admin frank ada")
	equal(only(s.ListUsers(s, filter(map[string]any{"username": "ada"}))).Email, "eda@example.com")

	vpc, instance := s.vpc("vpc-one"), s.instanceWith("web-1")
	other := s.vpc("vpc-two")
	readOnly, readWrite := linodego.AccessLevelReadOnly, linodego.AccessLevelReadWrite
	grants := must(s.UpdateUserGrants(s, "frank", linodego.UserGrantsUpdateOptions{
		VPC:    []linodego.EntityUserGrant{{ID: vpc.ID, Permissions: &readOnly}},
		Linode: []linodego.EntityUserGrant{{ID: instance.ID, Permissions: &readWrite}},
		Global: linodego.GlobalUserGrants{AddVPCs: true, AccountAccess: &readOnly},
	}))
	equalJSON(grants.VPC[0], linodego.GrantedEntity{ID: vpc.ID, Label: "vpc-one", Permissions: readOnly})
	equal(grants.Linode[0].Permissions, readWrite)
	expect(grants.Global.AddVPCs && !grants.Global.AddLinodes && *grants.Global.AccountAccess == readOnly, "%v", grants.Global)
	equalJSON(must(s.GetUserGrants(s, "frank")), grants)

	frank := s.restricted
	// The user sees only the grants that it has; the account's list has all objects.
	equal(len(grants.VPC), 2)
	own := must(frank.GrantsList(s))
	equalJSON(only(own.VPC, nil), grants.VPC[0])
	equalJSON(own.Global, grants.Global)
	equal(only(frank.ListVPCs(s, nil)).Label, "vpc-one")
	_, err := frank.GetVPC(s, other.ID)
	expect(linodego.ErrHasStatus(err, 403, 404), "%v", err)
	_, err = frank.UpdateVPC(s, vpc.ID, linodego.VPCUpdateOptions{Label: "mine"})
	expect(linodego.ErrHasStatus(err, 403), "expected 403: %v", err)
	must(frank.RenameInstance(s, instance.ID, "web-main"))
	must(frank.CreateVPC(s, linodego.VPCCreateOptions{Label: "vpc-three", Region: region}))
	equal(len(must(frank.ListVPCs(s, nil))), 2)

	unrestricted := must(s.UpdateUser(s, "frank", linodego.UserUpdateOptions{Restricted: pointer(false)}))
	expect(!unrestricted.Restricted, "%v", unrestricted)
	equal(len(must(frank.ListVPCs(s, nil))), 3)
	done(s.DeleteUser(s, "ada"))
	_, err = s.GetUser(s, "ada")
	notFound(err)
	_, err = s.CreateUser(s, linodego.UserCreateOptions{Username: "admin", Email: "again@example.com"})
	s.refused(err, 400, "username")
}
