-- A store as schema 34 leaves it. Migrations and their checksums:
-- 0001 896b1647e179d14ada38625169ce75840a6635e5a3961b2795771ff7e7453202
-- 0002 874e643115bf10dd4f3b1c9b7004a5d12a08014f6038954f8c2afbb115708657
-- 0003 f047464b71c3ef271ffa20861415de8a9b37aa73df2a1afd6594ae782aeb23fe
-- 0004 7f83d482025d0333dc52c58cf501645840fd3591f682c22988f915ae873b180b
-- 0005 53cff61b7fc9770207d4c285b48aae452e4c13a24c9b2afac2f2eed1a4e18112
-- 0006 3d13683123ed86bfc69ee977ebf906e17416df1d3b00267efeb930fcd071977a
-- 0007 a8a0eaf0e44a1dfdbc68f0a319cb6c8139998d29306aa790a778348f283f3885
-- 0008 648b088b39bc7d74309b0bb2ed538ee582f83cf88fc2e6871ad000c526f2444c
-- 0009 e710d7624e562735d7db941de59eddbda0b8a9d34fb1ae290130429ac70a594e
-- 0010 b4e044ca06959e1575ff796d2ce71adc4fe2ecc7bb0635bc81bbf77a4ea81920
-- 0011 42373b14ea1957169b808299153ce021e1fa058375c7a7e361c0875e5f3ad67f
-- 0012 18e10a15a02cd0a2036fe4afe61ddd492578c5c89014316d50a3aced5dce86be
-- 0013 b39039fd93683c7d128f3f770e74a0c863202617ff02979b558f30930268cc74
-- 0014 0ae158b8138896c6db7694ae89d99e561752fcbd41f5c4368dc8786a3bef6de7
-- 0015 4107227260e65fd8129920611b40b4923b629e4e43dcf10c50392150d1f759a7
-- 0016 a8ae109a2fc4c23749f8279a295807b431e1be2d363076820ffbfc4e1b940412
-- 0017 ece217ca2c92aa21e27ffc31a34d3537027e06baa3c7808db8f6c74c475992fd
-- 0018 1e84adcc10ce908a0acde925d68635b0947bc02a39244006bf885e592bb0cae0
-- 0019 0e285f978a7896ec1e9b93d04a9600115294207a4c0dc9a6ae43ec1fc67c7a85
-- 0020 749e29bec911faa3a72c4fc14fefb025c1a64ed66a4794cba497e2bb1c3c18ed
-- 0021 c0eb68fabff9f97c45a40e00831cb9594c4fc33ec9d025a509fefa8e51a275c2
-- 0022 37b1d287cc3e5ce1f2df225831f4926ee956dc7af33d8329fb748b9276c8f648
-- 0023 8479a1170fc49616fb8126070087da4a5497776155bb0e0ecee7418cfa0e25ad
-- 0024 1027feda2e246b879d5ce70159d11f06329979879f79a726aa4eb08c1e454bc0
-- 0025 0da49e822d315d2dbf673ae3793d005651ff099b4ce8e516054fb843c8cdaaae
-- 0026 e580479df012eab00ad5ed7d5f4fa29539324a3c9a6a1d301042a3c6d081e1e2
-- 0027 090a21ea9deff405b1c51c3806ea5ce69c52ff9f1e70fd8343e32f493ccb8356
-- 0028 de841cd88e06b4c63b8215139f78313d533afe83c795c82a768fd0836b75b47c
-- 0029 c545c691f1454aa1c48cd55c9b3d1c174534598381bee91cfe420ccd73d1156c
-- 0030 cf149d78a9391dc3868a7043b37be7796ca1a01fda02ebc47b29ff1d68f20203
-- 0031 dafd4f7949a161aea0fe17ccdcc5105bc28da910fc3a7365b77a98d760811ed0
-- 0032 b281a26004047d3f0ea1932ca88ad54e5b86d4c3eacf5fdb62579f6cad910686
-- 0033 a89d7d3801c8412489269160833ede2df473754d4a751fcca4f27b820f2313c7
-- 0034 1ba961c4ce3fafcf557348012567d56fad498498c9967af73ae8babeea90dd24

INSERT INTO account (id, company, email, created, vpcs_per_region, subnets_per_vpc, attachment_bytes, first_email, first_name, last_name, address_1, address_2, city, state, zip, country, phone, tax_id, network_helper, maintenance_policy, status) VALUES
    (1, '', 'ada@example.com', 1717156800000000, NULL, NULL, NULL, 'admin@localhost', 'Ada', 'Lovelace', '12 St James''s Square', '', 'London', '', 'SW1Y 4JH', 'GB', '', '', 0, 'linode/power_off_on', 'active'),
    (2, '', 'eve@example.com', 1717156800000000, 7, NULL, NULL, NULL, '', '', '', '', '', '', '', '', '', '', 1, 'linode/migrate', 'active');

INSERT INTO app_user (id, account, username, email, restricted, account_access, password, created, events_seen, timezone, email_notifications, lish_auth_method, authorized_keys, preferences, password_created, last_login, last_login_status, staff_role, disabled) VALUES
    (1, 1, 'admin', 'admin@localhost', 0, NULL, '$argon2id$v=19$m=19456,t=2,p=1$c2FtcGxlc2FtcGxl$c2FtcGxl', 1717156800000000, 1, 'GMT', 1, 'password_keys', NULL, '{}', 1717156860000000, 1717160400000000, 'successful', NULL, 0),
    (2, 2, 'eve', 'eve@example.com', 0, NULL, NULL, 1717156800000000, 0, 'GMT', 1, 'password_keys', NULL, '{}', NULL, NULL, NULL, NULL, 0),
    (3, NULL, 'grace', 'grace@example.com', 0, NULL, NULL, 1717156800000000, 0, 'GMT', 1, 'password_keys', NULL, '{}', NULL, NULL, NULL, 'admin', 0),
    (4, 1, 'bob', 'bob@example.com', 1, 'read_only', NULL, 1717156801000000, 0, 'GMT', 1, 'password_keys', NULL, '{}', NULL, NULL, NULL, NULL, 0);

INSERT INTO global_grant (app_user, name) VALUES
    (4, 'add_vpcs');

INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES
    (4, 'vpc', 1, 'read_only');

INSERT INTO vpc (id, account, label, description, region, created, updated, ipv6) VALUES
    (1, 1, 'core', 'é 漢 ''quoted'' "twice"', 'us-east', 1717156801000000, 1717156801000000, 'fd676172000000000000000000000000/052'),
    (300, 1, 'edge', '', 'us-mia', 1717156801000000, 1717156801000000, NULL),
    (70000, 1, 'far', '', 'us-east', 1717156801000000, 1717156801000000, NULL),
    (70001, 2, 'core', '', 'us-east', 1717156801000000, 1717156801000000, 'fd676172000020000000000000000000/052');

INSERT INTO subnet (id, vpc, label, ipv4, first_address, last_address, created, updated, ipv6) VALUES
    (1, 1, 'front', '10.0.0.0/24', 167772160, 167772415, 1717156801000000, 1717156801000000, 'fd676172000000000000000000000000/062'),
    (2, 1, 'back', '10.0.1.0/28', 167772416, 167772431, 1717156801000000, 1717156801000000, NULL),
    (3, 300, 'only', '192.168.0.0/29', 3232235520, 3232235527, 1717156801000000, 1717156801000000, NULL),
    (4, 70001, 's', '10.0.0.0/8', 167772160, 184549375, 1717156801000000, 1717156801000000, NULL);

INSERT INTO event (id, account, created, action, username, entity_kind, entity_id, entity_label, entity_url, secondary_kind, secondary_id, secondary_label, secondary_url, guard_kind, guard_id, status, percent_complete, duration, author) VALUES
    (1, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 1, 'core', '/v4/vpcs/1', NULL, NULL, NULL, NULL, 'vpc', 1, 'notification', NULL, NULL, 1),
    (2, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 1, 'front', '/v4/vpcs/1/subnets/1', 'vpc', 1, 'core', '/v4/vpcs/1', 'vpc', 1, 'notification', NULL, NULL, 1),
    (3, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 2, 'back', '/v4/vpcs/1/subnets/2', 'vpc', 1, 'core', '/v4/vpcs/1', 'vpc', 1, 'notification', NULL, NULL, 1),
    (4, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 300, 'edge', '/v4/vpcs/300', NULL, NULL, NULL, NULL, 'vpc', 300, 'notification', NULL, NULL, 1),
    (5, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 3, 'only', '/v4/vpcs/300/subnets/3', 'vpc', 300, 'edge', '/v4/vpcs/300', 'vpc', 300, 'notification', NULL, NULL, 1),
    (300, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 70000, 'far', '/v4/vpcs/70000', NULL, NULL, NULL, NULL, 'vpc', 70000, 'notification', NULL, NULL, 1),
    (301, 2, 1717156801000000, 'vpc_create', 'eve', 'vpc', 70001, 'core', '/v4/vpcs/70001', NULL, NULL, NULL, NULL, 'vpc', 70001, 'notification', NULL, NULL, 2),
    (302, 2, 1717156801000000, 'subnet_create', 'eve', 'subnet', 4, 's', '/v4/vpcs/70001/subnets/4', 'vpc', 70001, 'core', '/v4/vpcs/70001', 'vpc', 70001, 'notification', NULL, NULL, 2),
    (303, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 70002, 'gone', '/v4/vpcs/70002', NULL, NULL, NULL, NULL, 'vpc', 70002, 'notification', NULL, NULL, 1),
    (304, 1, 1717156801000000, 'vpc_delete', 'admin', 'vpc', 70002, 'gone', '/v4/vpcs/70002', NULL, NULL, NULL, NULL, 'vpc', 70002, 'notification', NULL, NULL, 1),
    (305, 1, 1717156801000000, 'linode_create', 'admin', 'linode', 1, 'web', '/v4/linode/instances/1', NULL, NULL, NULL, NULL, 'linode', 1, 'finished', 100, 0, 1),
    (306, 1, 1717156801000000, 'linode_create', 'admin', 'linode', 2, 'database', '/v4/linode/instances/2', NULL, NULL, NULL, NULL, 'linode', 2, 'finished', 100, 0, 1),
    (307, 1, 1717156801000000, 'user_create', 'admin', 'user', 4, 'bob', '/v4/account/users/bob', NULL, NULL, NULL, NULL, 'account', 0, 'notification', NULL, NULL, 1),
    (308, 1, 1717156801000000, 'user_update', 'admin', 'user', 4, 'bob', '/v4/account/users/bob', NULL, NULL, NULL, NULL, 'account', 0, 'notification', NULL, NULL, 1),
    (309, 1, 1717156801000000, 'ticket_create', 'admin', 'ticket', 1, 'Cannot reach web', '/v4/support/tickets/1', NULL, NULL, NULL, NULL, 'ticket', 1, 'notification', NULL, NULL, 1),
    (310, 1, 1717156801000000, 'ticket_create', 'admin', 'ticket', 300, 'Invoice', '/v4/support/tickets/300', NULL, NULL, NULL, NULL, 'ticket', 300, 'notification', NULL, NULL, 1),
    (311, 2, 1717156801000000, 'ticket_create', 'eve', 'ticket', 301, 'Other', '/v4/support/tickets/301', NULL, NULL, NULL, NULL, 'ticket', 301, 'notification', NULL, NULL, 2),
    (312, 1, 1717156801000000, 'ticket_update', 'admin', 'ticket', 1, 'Cannot reach web', '/v4/support/tickets/1', NULL, NULL, NULL, NULL, 'ticket', 1, 'notification', NULL, NULL, 1),
    (313, 1, 1717156801000000, 'ticket_attachment_upload', 'admin', 'ticket', 1, 'Cannot reach web', '/v4/support/tickets/1', NULL, NULL, NULL, NULL, 'ticket', 1, 'notification', NULL, NULL, 1),
    (314, 1, 1717156801000000, 'ticket_update', 'admin', 'ticket', 300, 'Invoice', '/v4/support/tickets/300', NULL, NULL, NULL, NULL, 'ticket', 300, 'notification', NULL, NULL, 1),
    (315, 1, 1717156801000000, 'ticket_update', 'Support', 'ticket', 1, 'Cannot reach web', '/v4/support/tickets/1', NULL, NULL, NULL, NULL, 'ticket', 1, 'notification', NULL, NULL, NULL),
    (316, 1, 1717156801000000, 'ticket_update', 'Support', 'ticket', 1, 'Cannot reach web', '/v4/support/tickets/1', NULL, NULL, NULL, NULL, 'ticket', 1, 'notification', NULL, NULL, NULL),
    (317, 1, 1717156801000000, 'oauth_client_create', 'admin', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'account', 0, 'notification', NULL, NULL, 1);

INSERT INTO event_read (app_user, event) VALUES
    (1, 2);

INSERT INTO instance (id, account, label, group_name, region, plan, image, status, running_config, last_config, tags, watchdog, alerts, backup_day, backup_window, maintenance_policy, disk_encryption, has_user_data, host, created, updated) VALUES
    (1, 1, 'web', '', 'us-east', 'g6-nanode-1', NULL, 'running', 1, 1, 'prod', 1, '60,10,10,80,0', 'Monday', 'W4', 'linode/power_off_on', 'enabled', 0, '30130cc750150474ea1ac209389bbae0ff2c572a', 1717156801000000, 1717156801000000),
    (2, 1, 'database', '', 'us-east', 'g6-nanode-1', NULL, 'offline', NULL, NULL, 'prod
üñï', 1, '90,10,10,80,10000', NULL, NULL, 'linode/migrate', 'disabled', 0, '25b9ba2ee801f4afa2eeb3ad33da188583834f6e', 1717156801000000, 1717156801000000);

INSERT INTO public_address (address, instance, is_private, rdns, additional_of) VALUES
    (3221225986, 1, 0, 'web.example.com', NULL),
    (3221225987, 2, 0, NULL, NULL),
    (3221225988, 1, 0, NULL, 1),
    (3232268289, 1, 1, NULL, NULL);

INSERT INTO disk (id, instance, label, size, created, filesystem, status, updated, image) VALUES
    (1, 1, 'Debian 12 Disk', 25088, 1717156801000000, 'ext4', 'ready', 1717156802000000, 'linode/debian12'),
    (2, 1, '512 MB Swap Image', 512, 1717156801000000, 'swap', 'ready', NULL, NULL),
    (3, 2, 'data', 1000, 1717156801000000, 'raw', 'not ready', 1717156801000000, NULL);

INSERT INTO config (id, instance, label, comments, kernel, memory_limit, root_device, run_level, virt_mode, helpers, devices, created, updated) VALUES
    (1, 1, 'My web Profile', '', 'linode/latest-64bit', 0, '/dev/sda', 'default', 'paravirt', '11111', '1,2,,,,,,', 1717156801000000, 1717156801000000),
    (2, 2, 'My database Profile', '', 'linode/latest-64bit', 0, '/dev/sda', 'default', 'paravirt', '11111', ',,,,,,,', 1717156801000000, 1717156801000000);

INSERT INTO interface (id, config, instance, place, purpose, is_primary, active, label, ipam_address, vpc, subnet, address, nat_1_1, ipv6_is_public) VALUES
    (1, 1, 1, 0, 'public', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 1, 1, 1, 'vpc', 0, 1, NULL, NULL, 1, 1, 167772162, 3221225986, 1),
    (3, 2, 2, 0, 'vpc', 0, 0, NULL, NULL, 1, 1, 167772163, NULL, 0);

INSERT INTO interface_range (interface, place, subnet, instance, ipv4, first_address, last_address) VALUES
    (2, 0, 1, 1, '10.0.0.64/28', 167772224, 167772239);

INSERT INTO interface_range6 (interface, place, subnet, instance, first_address, last_address) VALUES
    (2, 0, 1, 1, 'fd676172000000010000000000000000', 'fd67617200000001ffffffffffffffff'),
    (2, 1, 1, 1, 'fd676172000000020000000000000000', 'fd67617200000002ffffffffffffffff');

INSERT INTO ipv6_pool (id, ipv6) VALUES
    (1, 'fd676172000000000000000000000000/032');

INSERT INTO ipv6_prefix (first_address, last_address, account, vpc, released) VALUES
    ('fd676172000000000000000000000000', 'fd67617200000fffffffffffffffffff', 1, 1, NULL),
    ('fd676172000010000000000000000000', 'fd67617200001fffffffffffffffffff', 2, NULL, 1717156802000000),
    ('fd676172000020000000000000000000', 'fd67617200002fffffffffffffffffff', 2, 70001, NULL);

INSERT INTO pool_free_range6 (pool, first_address, last_address) VALUES
    (1, 'fd676172000030000000000000000000', 'fd676172ffffffffffffffffffffffff');

INSERT INTO vpc_free_range6 (vpc, first_address, last_address) VALUES
    (1, 'fd676172000000040000000000000000', 'fd67617200000fffffffffffffffffff'),
    (70001, 'fd676172000020000000000000000000', 'fd67617200002fffffffffffffffffff');

INSERT INTO free_range6 (subnet, first_address, last_address) VALUES
    (1, 'fd676172000000030000000000000000', 'fd67617200000003ffffffffffffffff');

INSERT INTO free_range (subnet, first_address, last_address) VALUES
    (2, 167772418, 167772429),
    (3, 3232235522, 3232235525),
    (4, 167772162, 184549373),
    (1, 167772240, 167772413),
    (1, 167772164, 167772223);

INSERT INTO job (id, kind, subject, payload, due, available, attempts, lease_owner, last_error, dead) VALUES
    (1, 'instance_power', '2', 'finish 306', 1717156805000000, 1717156805000000, 0, NULL, NULL, 0),
    (2, 'identity_retention', '', '', 1717160400000000, 1717160460000000, 1, '4711-0a1b2c3d', NULL, 0),
    (3, 'upload_sweep', '', '', 1717160400000000, 1717160400000000, 12, NULL, 'the bucket does not answer', 1);

INSERT INTO ticket (id, account, summary, description, status, is_closed, closable, closed, opened, opened_by, opener, updated, updated_by, gravatar_id, entity_kind, entity_id, entity_label, entity_url, managed_issue, priority, claimer, claimed, replies, notes, revision, merged_into) VALUES
    (1, 1, 'Cannot reach web', 'Packets get lost.', 'open', 0, 1, NULL, 1717156801000000, 'admin', 1, 1717156801000000, 'Support', '46d229b033af06a191ff2267bca9ae56', 'vpc', 1, 'core', '/v4/vpcs/1', 0, 1, 3, 1717156801000000, 2, 1, 6, NULL),
    (300, 1, 'Invoice', 'Which one?', 'closed', 1, 1, 1717156801000000, 1717156801000000, 'admin', 1, 1717156801000000, 'admin', '46d229b033af06a191ff2267bca9ae56', NULL, NULL, NULL, NULL, 0, 1, NULL, NULL, 0, 0, 2, 1),
    (301, 2, 'Other', 'Another account''s ticket.', 'new', 0, 1, NULL, 1717156801000000, 'eve', 2, 1717156801000000, 'eve', 'e089b1dea78f4691fbb9da701cf143db', NULL, NULL, NULL, NULL, 0, 1, NULL, NULL, 0, 0, 1, NULL);

INSERT INTO reply (id, ticket, created, created_by, description, from_staff, gravatar_id, answers) VALUES
    (1, 1, 1717156801000000, 'admin', 'Any news?', 0, '46d229b033af06a191ff2267bca9ae56', NULL),
    (2, 1, 1717156801000000, 'Support', 'We look into it.', 1, 'd41d8cd98f00b204e9800998ecf8427e', 0);

INSERT INTO note (id, ticket, created, created_by, description) VALUES
    (1, 1, 1717156801000000, 'grace', 'Known problem.');

INSERT INTO attachment (id, ticket, name, size, sha256, file_key, created, created_by, from_staff) VALUES
    (1, 1, 'notes.txt', 5, '8a7525b1492fb84833f5c4a69b30f4bfbb134f9b666b61a2c1872d63d234c085', 'sample-file', 1717156801000000, 'admin', 0);

INSERT INTO attachment_check (attachment, verified, leased_until, damaged) VALUES
    (1, 1717156800000007, 0, 0);

INSERT INTO upload (file_key, begun) VALUES
    ('left-behind', 1717156800000000);

INSERT INTO ticket_history (id, ticket, step, created, created_by, from_staff, status, before, after, reply, note, attachment) VALUES
    (1, 1, 'opened', 1717156801000000, 'admin', 0, 'new', NULL, NULL, NULL, NULL, NULL),
    (2, 300, 'opened', 1717156801000000, 'admin', 0, 'new', NULL, NULL, NULL, NULL, NULL),
    (3, 301, 'opened', 1717156801000000, 'eve', 0, 'new', NULL, NULL, NULL, NULL, NULL),
    (4, 1, 'reply', 1717156801000000, 'admin', 0, 'new', NULL, NULL, 1, NULL, NULL),
    (5, 1, 'attachment', 1717156801000000, 'admin', 0, 'new', NULL, 'notes.txt', NULL, NULL, 1),
    (6, 300, 'close', 1717156801000000, 'admin', 0, 'closed', 'new', 'closed', NULL, NULL, NULL),
    (7, 1, 'claim', 1717156801000000, 'grace', 1, 'open', NULL, 'grace', NULL, NULL, NULL),
    (8, 1, 'note', 1717156801000000, 'grace', 1, 'open', NULL, NULL, NULL, 1, NULL),
    (9, 1, 'reply', 1717156801000000, 'grace', 1, 'open', NULL, NULL, 2, NULL, NULL);

INSERT INTO ticket_viewer (ticket, tab, app_user, seen) VALUES
    (1, 'tab', 3, 1717156800000000);

INSERT INTO canned_reply (id, label, description, created, updated) VALUES
    (1, 'Thanks', 'Thank you.', 1717156801000000, 1717156801000000);

INSERT INTO entity (account, kind, id, label) VALUES
    (1, 'domain', 1, 'example.com');

INSERT INTO vlan (id, account, region, label) VALUES
    (1, 1, 'us-east', 'backbone');

INSERT INTO oauth_client (id, number, account, label, redirect_uri, secret, is_public, status, created) VALUES
    ('0123456789abcdef0123', 1, 1, 'Dashboard', 'https://app.example/callback', '6fcc3fc70c19f2aa49b361b2f228d06f2471e5e1314f7aa5cd3b552275661941', 0, 'active', 1717156801000000),
    ('7c21a9e04d5f38b6120e', 2, NULL, 'Provider tool', 'https://tool.example/callback', '721da222f5e92b99f21c1d035d05109d18c40c1f0211cabec7e367c7ca0f227e', 0, 'active', 1717156801000000);

INSERT INTO oauth_grant (id, client, app_user, scopes, created, revoked) VALUES
    (1, '7c21a9e04d5f38b6120e', 1, 'vpc:read_only', 1717156800000000, NULL),
    (2, '7c21a9e04d5f38b6120e', 3, 'vpc:read_only', 1717156800000000, NULL),
    (3, '0123456789abcdef0123', 1, 'vpc:read_only', 1717156800000000, NULL);

INSERT INTO token (id, app_user, kind, label, hash, prefix, scopes, created, expiry, revoked, oauth_grant) VALUES
    (1, 1, 'personal', 'first start', '3490f80401886d12f3861ec190f5c16419b26345497a92bc4530e22f5d8b4295', 'a1a1a1a1a1a1a1a1', '*', 1717156800000000, NULL, NULL, NULL),
    (2, 2, 'personal', '', '3a26c6423169cb5c557326d438460fdccd2b0e1375298a00e3b525d1e39b45b1', 'e2e2e2e2e2e2e2e2', '*', 1717156800000000, NULL, NULL, NULL),
    (3, 3, 'personal', '', 'd896f9e9f235ba43879cc6df6771e422dca97acbd2677d6200ca4e21c7ac5049', 'd3d3d3d3d3d3d3d3', '*', 1717156801000000, NULL, NULL, NULL),
    (4, 4, 'personal', '', '9c0c2c2e151b7fea44507442da60b93baff94552b94ee7aecadf16dc5b963b30', 'b4b4b4b4b4b4b4b4', '*', 1717156801000000, NULL, NULL, NULL),
    (11, 1, 'oauth', '', '00333785ce6087756e2dd9355b86a0c80fda63b1291584346cdb3972df9be144', '', 'vpc:read_only', 1717156800000000, 1724932800000000, NULL, 1),
    (12, 3, 'oauth', '', '4fbafd72e2c18b0b240dcfdff6ef563cc6fde0785fc8ab9846629c3ef9bf3a69', '', 'vpc:read_only', 1717156800000000, 1724932800000000, NULL, 2),
    (13, 1, 'oauth', '', 'b68ce3579a8bfee21b25d76b54d78672a17aa5f505cf99bf7eb38f69b3074b07', '', 'vpc:read_only', 1717156800000000, 1724932800000000, NULL, 3),
    (14, 3, 'oauth', '', '64fcb828afee3c040d2c3d37f8deca1a7314f7b6d482baa9b05f57121a8a1b4d', '', 'vpc:read_only', 1717156800000000, 1724932800000000, 1717156800000000, 4);

INSERT INTO oauth_code (hash, oauth_grant, redirect_uri, challenge, expiry, used) VALUES
    ('5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b', 1, 'https://tool.example/callback', NULL, 1717157400000000, 1717156800000000);

INSERT INTO refresh_token (hash, oauth_grant, created, expiry, used) VALUES
    ('ccdbd43396eca4124f9a7bcf165e6adeeaf98b7b96b55d061cc7d7779e276f22', 1, 1717156800000000, 1719748800000000, NULL),
    ('b5bac0cb1025064a069b66a8a42597d244c328ecad8efbc30a81d117e0e9f0c5', 2, 1717156800000000, 1719748800000000, NULL),
    ('108b9c5df1362736317750197e69b60b4a45687588a9525f79841a054328c8de', 3, 1717156800000000, 1719748800000000, NULL);

INSERT INTO session (hash, app_user, created, expiry) VALUES
    ('3f3af1ecebbd1410ab417ec0d27bbfcb5d340e177ae159b59fc8626c2dfd9175', 1, 1717156800000000, 1717243200000000);

INSERT INTO password_link (hash, app_user, expiry) VALUES
    ('b1b1bdb480c61d075300d9bff7d9cb69cf31695ea048e478facadf426e8d0fb0', 4, 1717243200000000);

INSERT INTO server_secret (name, value, created) VALUES
    ('device', '263a4dbe41488fb87214b0032339dbb9f0c8da14c16dfcf13084bf3c2552eca5', 1717156800000000);

INSERT INTO tally (owner, collection, span, bucket, items) VALUES
    (1, 'attachment_bytes', 256, 0, 5),
    (1, 'attachment_bytes', 65536, 0, 5),
    (1, 'event', 256, 0, 5),
    (1, 'event', 256, 1, 15),
    (1, 'event', 65536, 0, 20),
    (1, 'instance', 256, 0, 2),
    (1, 'instance', 65536, 0, 2),
    (1, 'ticket:closed', 256, 1, 1),
    (1, 'ticket:closed', 65536, 0, 1),
    (1, 'ticket:open', 256, 0, 1),
    (1, 'ticket:open', 65536, 0, 1),
    (1, 'vpc', 256, 0, 1),
    (1, 'vpc', 256, 1, 1),
    (1, 'vpc', 256, 273, 1),
    (1, 'vpc', 65536, 0, 2),
    (1, 'vpc', 65536, 1, 1),
    (1, 'vpc:us-east', 256, 0, 1),
    (1, 'vpc:us-east', 256, 273, 1),
    (1, 'vpc:us-east', 65536, 0, 1),
    (1, 'vpc:us-east', 65536, 1, 1),
    (1, 'vpc:us-mia', 256, 1, 1),
    (1, 'vpc:us-mia', 65536, 0, 1),
    (1, 'vpc_subnet', 256, 0, 2),
    (1, 'vpc_subnet', 65536, 0, 2),
    (2, 'event', 256, 1, 3),
    (2, 'event', 65536, 0, 3),
    (2, 'ticket:open', 256, 1, 1),
    (2, 'ticket:open', 65536, 0, 1),
    (2, 'vpc', 256, 273, 1),
    (2, 'vpc', 65536, 1, 1),
    (2, 'vpc:us-east', 256, 273, 1),
    (2, 'vpc:us-east', 65536, 1, 1),
    (300, 'vpc_subnet', 256, 0, 1),
    (300, 'vpc_subnet', 65536, 0, 1),
    (70001, 'vpc_subnet', 256, 0, 1),
    (70001, 'vpc_subnet', 65536, 0, 1);

INSERT INTO ticket_text (ticket, body) VALUES
    (1, 'cannot reach web packets get lost'),
    (300, 'invoice which one'),
    (301, 'other another account s ticket'),
    (1, 'any news'),
    (1, 'known problem'),
    (1, 'we look into it');

INSERT INTO account_revision (account, identity_version, revision, log_start) VALUES
    (1, 7, 1201, 1000),
    (2, 2, 3, 0);

INSERT INTO change_log (account, revision, kind, id) VALUES
    (1, 1200, 'event', 305),
    (1, 1200, 'instance', 2),
    (1, 1201, 'event', 306),
    (2, 3, 'vpc', 70001);

INSERT INTO tag (id, account, label, is_permanent) VALUES
    (1, 1, 'prod', 0),
    (2, 1, 'üñï', 0),
    (3, 1, 'unused', 1);

INSERT INTO instance_tag (account, label, instance) VALUES
    (1, 'prod', 1),
    (1, 'prod', 2),
    (1, 'üñï', 2);

INSERT INTO ssh_key (id, app_user, label, public_key, created) VALUES
    (1, 1, 'laptop', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBERERERERERERERERERERERERERERERERERERERERER', 1717156801000000);

INSERT INTO login_record (id, app_user, account, username, restricted, created, ip, status) VALUES
    (1, 1, 1, 'admin', 0, 1717156802000000, '192.0.2.77', 'failed'),
    (2, 1, 1, 'admin', 0, 1717156803000000, '192.0.2.77', 'successful'),
    (3, 2, 2, 'eve', 0, 1717156803000000, '', 'successful');

INSERT INTO host (id, label, region, underlay_address, capacity, is_draining, created, updated) VALUES
    (1, 'rack-1', 'us-east', '192.0.2.101', 20, 0, 1717156801000000, 1717156801000000),
    (2, 'rack-2', 'us-east', '2001:db8::102', 100, 1, 1717156801000000, 1717156802000000);

INSERT INTO host_join_token (host, hash, expiry) VALUES
    (2, 'fe3f55068e34aa6ca4ae9a20b3334173bef376ff2dc3aaccaeb652cf1ba87acf', 1717246800000000);

INSERT INTO host_credential (host, hash, created) VALUES
    (1, '611ea4e77e59971d8fb5d33706ddd3bad25b47ad461a6f10f0e2938e5eff1a08', 1717156801000000);

INSERT INTO host_report (host, last_seen, applied_revision, agent_version, underlay_mtu, warnings, key_generation, warning_codes, is_isolated, agent_runs, run_returned) VALUES
    (1, 1717156802000000, 3, '0.2.0', 9000, 'the MTU of the underlay is 9000
a second problem', 1, 'underlay_mtu_small
no_sessions 2 3', 1, '6f1c
09be', 1717156801000000);

INSERT INTO host_revision (host, revision) VALUES
    (1, 3),
    (2, 1);

INSERT INTO host_vpc (host, vpc, revision) VALUES
    (1, 1, 3);

INSERT INTO placement (instance, host) VALUES
    (1, 1);

INSERT INTO port (interface, instance, host, vpc, revision, status, reason, received_bytes, received_packets, sent_bytes, sent_packets, dropped_packets) VALUES
    (2, 1, 1, 1, 3, 'up', NULL, 123456, 100, 7890, 50, 3);

INSERT INTO tunnel (id, subnet) VALUES
    (7, 1),
    (9, 2);

INSERT INTO received_mail (id, author, message_key, ticket, reply, folded, files_done, created, message_id) VALUES
    (1, 1, '72107cb5a7083976a37503d58f2607a97fb6813806a7424a255b7275a67c6afe', 1, 1, '> We look into it.', 1, 1717156801000000, '1@example.com'),
    (2, 2, '4d22119855c90685975fb467c770a398578fd9d79fd0bf1bff6bd552408da102', 301, NULL, '', 0, 1717156801000000, NULL);

INSERT INTO instance_traffic (instance, month, received_bytes, received_packets, sent_bytes, sent_packets, dropped_packets) VALUES
    (1, 24292, 123456, 100, 7890, 50, 3),
    (1, 24293, 5, 1, 0, 0, 0);

INSERT INTO removed_port (interface, host, received_bytes, received_packets, sent_bytes, sent_packets, dropped_packets) VALUES
    (2, 2, 77, 1, 0, 0, 0);

INSERT INTO underlay_revision (region, revision) VALUES
    ('us-east', 4);

INSERT INTO region_encryption (region, is_enabled, key_days, generation, oldest_generation, rotated, updated) VALUES
    ('us-east', 1, 30, 2, 1, 1717160400000000, 1717160400000000);

INSERT INTO host_key (host, generation, public_key, created) VALUES
    (1, 1, 'HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=', 1717156860000000),
    (1, 2, 'xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=', 1717160400000000);

INSERT INTO announcement (id, title, body, severity, starts, ends, created, updated) VALUES
    (1, 'Maintenance', 'Instances restart on **Sunday**.', 'major', 1717156800000000, 1717243200000000, 1717156800000000, 1717156801000000),
    (2, 'Über uns', 'No end', 'minor', 1717156800000000, NULL, 1717156802000000, 1717156802000000);

INSERT INTO branding (id, name, accent_color, footer, support_links, logo_format, logo_hash, favicon_format, favicon_hash, updated, logo, favicon) VALUES
    (1, 'Harbor Cloud', '#0b6e4f', 'Harbor Lane Ltd
12 Quay Street', 'https://status.harbor.example Status
mailto:help@harbor.example Write to us
', 'svg', 'fdf449fb17f248d3', NULL, NULL, 1717156803000000, 'PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxwYXRoIGQ9Ik0wIDBoOHY4SDB6Ij48L3BhdGg+PC9zdmc+', NULL);

INSERT INTO ticket_tag (ticket, label) VALUES
    (1, 'network'),
    (1, 'rack 4'),
    (300, 'billing');

INSERT INTO saved_view (id, owner, created_by, label, is_shared, filters, created) VALUES
    (1, 3, 'grace', 'Urgent and unassigned', 1, 'claim unassigned
priority urgent
', 1717156803000000),
    (2, 3, 'grace', 'My billing', 0, 'claim mine
tag billing
', 1717156803000000),
    (3, NULL, 'linus', 'Oldest', 1, 'order oldest
', 1717156803000000);

INSERT INTO catalog_region (id, name, label, country, capabilities, status, retired, updated) VALUES
    (1, 'us-east', 'Newark, NJ', 'us', 'Linodes
VPCs
VPC Dual Stack
VPC IPv6 Stack
VPC IPv6 Large Prefixes', 'ok', 0, 1717156804000000),
    (2, 'is-rkv', 'Reykjavik, IS', 'is', 'Linodes
VPCs', 'outage', 1, 1717156805000000);

INSERT INTO catalog_plan (id, name, label, class, memory, disk, transfer, vcpus, gpus, network_out, hourly, monthly, region_prices, retired, updated) VALUES
    (1, 'g1-small', 'Small', 'standard', 2048, 51200, 1000, 1, 0, 1000, 150, 100000, '180 120000 is-rkv
', 0, 1717156806000000);

INSERT INTO outgoing_mail (id, kind, ticket, recipient, address, message_id, state, maybe_repeated, attempts, queued, last_attempt, sent, error, account) VALUES
    (1, 'ticket', 1, 1, 'admin@localhost', 'mail-0a1b2c3d@example.com', 'sent', 1, 2, 1717156801000000, 1717156861000000, 1717156861000000, NULL, NULL),
    (2, 'desk', 1, 3, 'grace@example.com', 'mail-4e5f6a7b@example.com', 'failed', 0, 1, 1717156801000000, 1717156801000000, NULL, '550 5.1.1', NULL),
    (3, 'invitation', NULL, NULL, 'former@example.com', 'mail-8c9d0e1f@example.com', 'sent', 0, 1, 1717156801000000, 1717156801000000, 1717156801000000, NULL, 1);

INSERT INTO mail_notice (mail, place, kind, reply, author) VALUES
    (1, 1, 'reply', 1, 'Support'),
    (1, 2, 'closed', NULL, 'Support'),
    (2, 1, 'opened', NULL, 'admin');

INSERT INTO suppressed_address (id, address, status, since) VALUES
    (1, 'grace@example.com', '550 5.1.1', 1717156801000000);

INSERT INTO staff_mail_choice (app_user, new_tickets, assigned, replies) VALUES
    (3, 0, 1, 1);

INSERT INTO mail_count (outcome, reason, messages, last_received) VALUES
    ('accepted', 'reply', 3, 1717156807000000),
    ('dropped', 'stranger', 1, 1717156808000000);

INSERT INTO mail_text (name, content) VALUES
    ('invitation.closing', 'Questions? Write to us.'),
    ('reply.introduction', '{{author.name}} has answered:'),
    ('signature', 'Harbor Lane Ltd
Support');
