-- Since Garth 0.2.0.
-- A line of `warning_codes` has the code of the same line of `warnings`, and the IDs of the hosts or subnets that it
-- names. `is_isolated` is 1 if new instances are placed on the host only if no other host is usable. A line of
-- `agent_runs` identifies a process that has reported as the agent of the host, newest first. `run_returned` is the time
-- at which an earlier process last reported again, which shows that several agents use the credential.

ALTER TABLE host_report ADD COLUMN warning_codes {text} NOT NULL DEFAULT '';
ALTER TABLE host_report ADD COLUMN is_isolated BIGINT NOT NULL DEFAULT 0;
ALTER TABLE host_report ADD COLUMN agent_runs {text} NOT NULL DEFAULT '';
ALTER TABLE host_report ADD COLUMN run_returned BIGINT;
