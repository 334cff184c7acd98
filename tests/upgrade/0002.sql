-- A store as schema 2 leaves it. Migrations and their checksums:
-- 0001 896b1647e179d14ada38625169ce75840a6635e5a3961b2795771ff7e7453202
-- 0002 874e643115bf10dd4f3b1c9b7004a5d12a08014f6038954f8c2afbb115708657

INSERT INTO account (id, company, email, created, vpcs_per_region, subnets_per_vpc) VALUES
    (1, '', 'admin@localhost', 1717156800000000, NULL, NULL),
    (2, '', 'eve@example.com', 1717156800000000, 7, NULL);

INSERT INTO app_user (id, account, username, email, restricted, account_access, password, created, events_seen) VALUES
    (1, 1, 'admin', 'admin@localhost', 0, NULL, '$argon2id$v=19$m=19456,t=2,p=1$c2FtcGxlc2FtcGxl$c2FtcGxl', 1717156800000000, 1),
    (2, 2, 'eve', 'eve@example.com', 0, NULL, NULL, 1717156800000000, 0),
    (3, NULL, 'grace', 'grace@example.com', 0, NULL, NULL, 1717156800000000, 0),
    (4, 1, 'bob', 'bob@example.com', 1, 'read_only', NULL, 1717156801000000, 0);

INSERT INTO global_grant (app_user, name) VALUES
    (4, 'add_vpcs');

INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES
    (4, 'vpc', 1, 'read_only');

UPDATE identity_version SET version = 7;

INSERT INTO vpc (id, account, label, description, region, created, updated) VALUES
    (1, 1, 'core', 'é 漢 ''quoted'' "twice"', 'us-east', 1717156801000000, 1717156801000000),
    (300, 1, 'edge', '', 'us-mia', 1717156801000000, 1717156801000000),
    (70000, 1, 'far', '', 'us-east', 1717156801000000, 1717156801000000),
    (70001, 2, 'core', '', 'us-east', 1717156801000000, 1717156801000000);

INSERT INTO subnet (id, vpc, label, ipv4, first_address, last_address, created, updated) VALUES
    (1, 1, 'front', '10.0.0.0/24', 167772160, 167772415, 1717156801000000, 1717156801000000),
    (2, 1, 'back', '10.0.1.0/28', 167772416, 167772431, 1717156801000000, 1717156801000000),
    (3, 300, 'only', '192.168.0.0/29', 3232235520, 3232235527, 1717156801000000, 1717156801000000),
    (4, 70001, 's', '10.0.0.0/8', 167772160, 184549375, 1717156801000000, 1717156801000000);

INSERT INTO event (id, account, created, action, username, entity_kind, entity_id, entity_label, entity_url, secondary_kind, secondary_id, secondary_label, secondary_url, guard_kind, guard_id, status, percent_complete, duration) VALUES
    (1, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 1, 'core', '/v4/vpcs/1', NULL, NULL, NULL, NULL, 'vpc', 1, 'notification', NULL, NULL),
    (2, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 1, 'front', '/v4/vpcs/1/subnets/1', 'vpc', 1, 'core', '/v4/vpcs/1', 'vpc', 1, 'notification', NULL, NULL),
    (3, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 2, 'back', '/v4/vpcs/1/subnets/2', 'vpc', 1, 'core', '/v4/vpcs/1', 'vpc', 1, 'notification', NULL, NULL),
    (4, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 300, 'edge', '/v4/vpcs/300', NULL, NULL, NULL, NULL, 'vpc', 300, 'notification', NULL, NULL),
    (5, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 3, 'only', '/v4/vpcs/300/subnets/3', 'vpc', 300, 'edge', '/v4/vpcs/300', 'vpc', 300, 'notification', NULL, NULL),
    (300, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 70000, 'far', '/v4/vpcs/70000', NULL, NULL, NULL, NULL, 'vpc', 70000, 'notification', NULL, NULL),
    (301, 2, 1717156801000000, 'vpc_create', 'eve', 'vpc', 70001, 'core', '/v4/vpcs/70001', NULL, NULL, NULL, NULL, 'vpc', 70001, 'notification', NULL, NULL),
    (302, 2, 1717156801000000, 'subnet_create', 'eve', 'subnet', 4, 's', '/v4/vpcs/70001/subnets/4', 'vpc', 70001, 'core', '/v4/vpcs/70001', 'vpc', 70001, 'notification', NULL, NULL),
    (303, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 70002, 'gone', '/v4/vpcs/70002', NULL, NULL, NULL, NULL, 'vpc', 70002, 'notification', NULL, NULL),
    (304, 1, 1717156801000000, 'vpc_delete', 'admin', 'vpc', 70002, 'gone', '/v4/vpcs/70002', NULL, NULL, NULL, NULL, 'vpc', 70002, 'notification', NULL, NULL),
    (305, 1, 1717156801000000, 'linode_create', 'admin', 'linode', 1, 'web', '/v4/linode/instances/1', NULL, NULL, NULL, NULL, 'linode', 1, 'finished', 100, 0),
    (306, 1, 1717156801000000, 'linode_create', 'admin', 'linode', 2, 'database', '/v4/linode/instances/2', NULL, NULL, NULL, NULL, 'linode', 2, 'finished', 100, 0),
    (307, 1, 1717156801000000, 'user_create', 'admin', 'user', 4, 'bob', '/v4/account/users/bob', NULL, NULL, NULL, NULL, 'account', 0, 'notification', NULL, NULL),
    (308, 1, 1717156801000000, 'user_update', 'admin', 'user', 4, 'bob', '/v4/account/users/bob', NULL, NULL, NULL, NULL, 'account', 0, 'notification', NULL, NULL);

INSERT INTO event_read (app_user, event) VALUES
    (1, 2);

INSERT INTO instance (id, account, label, group_name, region, plan, image, status, running_config, last_config, tags, watchdog, has_user_data, host, created, updated) VALUES
    (1, 1, 'web', '', 'us-east', 'g6-nanode-1', NULL, 'offline', NULL, NULL, 'prod', 1, 0, '30130cc750150474ea1ac209389bbae0ff2c572a', 1717156801000000, 1717156801000000),
    (2, 1, 'database', '', 'us-east', 'g6-nanode-1', NULL, 'offline', NULL, NULL, '', 1, 0, '25b9ba2ee801f4afa2eeb3ad33da188583834f6e', 1717156801000000, 1717156801000000);

INSERT INTO public_address (address, instance) VALUES
    (3221225986, 1),
    (3221225987, 2);

INSERT INTO config (id, instance, label, comments, kernel, memory_limit, root_device, run_level, virt_mode, helpers, devices, created, updated) VALUES
    (1, 1, 'My web Profile', '', 'linode/latest-64bit', 0, '/dev/sda', 'default', 'paravirt', '11111', ',,,,,,,', 1717156801000000, 1717156801000000),
    (2, 2, 'My database Profile', '', 'linode/latest-64bit', 0, '/dev/sda', 'default', 'paravirt', '11111', ',,,,,,,', 1717156801000000, 1717156801000000);

INSERT INTO interface (id, config, instance, place, purpose, is_primary, active, label, ipam_address, vpc, subnet, address, nat_1_1) VALUES
    (1, 1, 1, 0, 'public', 0, 0, NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 1, 1, 1, 'vpc', 0, 0, NULL, NULL, 1, 1, 167772162, 3221225986),
    (3, 2, 2, 0, 'vpc', 0, 0, NULL, NULL, 1, 1, 167772163, NULL);

INSERT INTO interface_range (interface, place, subnet, instance, ipv4, first_address, last_address) VALUES
    (2, 0, 1, 1, '10.0.0.64/28', 167772224, 167772239);

INSERT INTO free_range (subnet, first_address, last_address) VALUES
    (2, 167772418, 167772429),
    (3, 3232235522, 3232235525),
    (4, 167772162, 184549373),
    (1, 167772240, 167772413),
    (1, 167772164, 167772223);

INSERT INTO due_work (id, instance, event, step, due) VALUES
    (1, 2, 306, 'finish', 1717156805000000);

INSERT INTO token (id, app_user, kind, label, hash, prefix, scopes, created, expiry, revoked) VALUES
    (1, 1, 'personal', 'first start', '3490f80401886d12f3861ec190f5c16419b26345497a92bc4530e22f5d8b4295', 'a1a1a1a1a1a1a1a1', '*', 1717156800000000, NULL, NULL),
    (2, 2, 'personal', '', '3a26c6423169cb5c557326d438460fdccd2b0e1375298a00e3b525d1e39b45b1', 'e2e2e2e2e2e2e2e2', '*', 1717156800000000, NULL, NULL),
    (3, 3, 'personal', '', 'd896f9e9f235ba43879cc6df6771e422dca97acbd2677d6200ca4e21c7ac5049', 'd3d3d3d3d3d3d3d3', '*', 1717156801000000, NULL, NULL),
    (4, 4, 'personal', '', '9c0c2c2e151b7fea44507442da60b93baff94552b94ee7aecadf16dc5b963b30', 'b4b4b4b4b4b4b4b4', '*', 1717156801000000, NULL, NULL);
