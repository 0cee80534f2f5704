// Who may do what in the operational database: the rights of each role that logs in, table by table. `migrate` gives exactly these;
// a contract test asks Postgres for every one, and infra/database-roles.md shows them.
import type { Tables } from './generated/tables.ts'

/**
 * `baton_gateway` is for what people and their programs ask for, `baton_delivery` for what delivers: senders, relays,
 * receivers. `baton_app` is of installations that have not parted them: it may do what either may.
 */
export const SPLIT_ROLES = ['baton_gateway', 'baton_delivery'] as const
export type SplitRole = (typeof SPLIT_ROLES)[number]

const NONE = ''
const READ = 'select'
const ADD = 'select, insert'
const PASS_ON = 'select, insert, delete'
const CHANGE = 'select, update'
const WRITE = 'select, insert, update'
const ALL = 'select, insert, update, delete'
type Rights =
  | typeof NONE
  | typeof READ
  | typeof ADD
  | typeof PASS_ON
  | typeof CHANGE
  | typeof WRITE
  | typeof ALL

const both = (rights: Rights): Readonly<Record<SplitRole, Rights>> => ({
  baton_gateway: rights,
  baton_delivery: rights,
})
/** What people decide through the gateway. */
const decided = (
  gateway: Rights,
  delivery: Rights = READ,
): Readonly<Record<SplitRole, Rights>> => ({
  baton_gateway: gateway,
  baton_delivery: delivery,
})

export const TABLE_RIGHTS: Readonly<Record<keyof Tables, Readonly<Record<SplitRole, Rights>>>> = {
  // Whoever migrates makes these: no service does.
  tenant: both(READ),
  tenant_grant: both(READ),
  api_key: decided(READ, NONE),
  recorded_migration: both(NONE),
  // Its owner's alone: services ask subject_lookup.
  subject_pepper: both(NONE),
  // Votes, releases and approvals. What delivers asks for an approval and closes one that nobody needs any more; the policy
  // below keeps it from writing what somebody decided.
  review_vote: decided(WRITE),
  approval_override: decided(WRITE),
  approval: both(WRITE),
  // A person sends many dead letters back; the sweeper drives them.
  redrive: decided(WRITE, CHANGE),
  redrive_dead_letter: decided(WRITE, CHANGE),
  // Only an erasure changes what is kept of earlier messages, or whom a handoff names.
  handoff_revision: decided(WRITE, ADD),
  handoff_return: decided(WRITE, ADD),
  handoff_subject: decided(ALL, ADD),
  // Written by record_settings, tell_settings, tell_ruleset and the trigger on audit_outbox alone, each with the record that it is about.
  recorded_settings: both(READ),
  recorded_ruleset: both(READ),
  told_operation: decided(READ, NONE),
  task: both(WRITE),
  checkpoint: both(WRITE),
  handoff: both(WRITE),
  handoff_body: both(WRITE),
  execution: both(WRITE),
  dead_letter: both(WRITE),
  escalation: both(WRITE),
  fan_out: both(WRITE),
  branch: both(WRITE),
  external_ref: both(WRITE),
  receipt_check: both(WRITE),
  alert_webhook: both(WRITE),
  outbox: both(ALL),
  retry: both(ALL),
  // What waits to be recorded is forgotten, and never changed; so are the oldest differences.
  audit_outbox: both(PASS_ON),
  shadow_difference: both(PASS_ON),
  idempotency_key: both(ALL),
  agent_registration: both(ALL),
  sender_notification: both(ALL),
  queue_watermark: both(ALL),
  remote_execution: both(ALL),
  offer: both(ALL),
  session_reply: both(ALL),
  a2a_task: both(ALL),
  a2a_message: both(ALL),
  a2a_push: both(ALL),
  stream_chunk: both(ALL),
  alert: both(ALL),
  alert_change: both(ALL),
  alert_delivery: both(ALL),
  alert_occurrence: both(ALL),
  metric_minute: both(ALL),
  metric_hour: both(ALL),
  metric_day: both(ALL),
  // Events leave by the gateway alone.
  event_feed: decided(ALL, NONE),
  event_head: decided(CHANGE, NONE),
  event_position: decided(ALL, NONE),
  event: decided(ALL, NONE),
  event_subscription: decided(ALL, NONE),
  event_delivery: decided(ALL, NONE),
}

/** Tables of which row-level security lets this role write such rows only. */
export const WRITABLE_ROWS: readonly {
  readonly table: keyof Tables
  readonly role: SplitRole
  readonly rows: string
}[] = [
  {
    table: 'approval',
    role: 'baton_delivery',
    rows: 'decision is null and decided_by is null and decided_as is null and signed is null',
  },
  {
    table: 'dead_letter',
    role: 'baton_delivery',
    rows: `resolution is null or resolution not in ('RELEASED', 'REDACTED', 'DISCARDED')`,
  },
]

/** How many of the server's connections a role may have at once, so that no one can take all of them. */
export const CONNECTION_SHARES = {
  baton_app: 0.8,
  baton_gateway: 0.5,
  baton_delivery: 0.6,
} as const satisfies Readonly<Record<'baton_app' | SplitRole, number>>

/** The statements that give each role its rights, and take every other; they hold together or not at all. */
export function rightsStatements(): readonly string[] {
  const roles = SPLIT_ROLES.join(', ')
  const grants = Object.entries(TABLE_RIGHTS).flatMap(([table, rights]) =>
    SPLIT_ROLES.filter((role) => rights[role] !== NONE).map(
      (role) => `grant ${rights[role]} on ${table} to ${role}`,
    ),
  )
  return [
    `revoke all on all tables in schema public from ${roles}`,
    `grant usage on schema public to ${roles}`,
    `grant execute on function subject_lookup, record_settings, tell_settings, tell_ruleset to ${roles}`,
    ...grants,
    EVERYBODYS_ROWS,
    ...WRITABLE_ROWS.map(({ table, role, rows }) => ownRows(table, role, rows)),
  ]
}

/** Those who act for all tenants see every row: where the policy says so of `baton_app`, it says so of them. */
const EVERYBODYS_ROWS = `do $$
declare
  policy record;
  wanted name[];
begin
  for policy in select p.tablename, p.roles from pg_policies p
    where p.schemaname = 'public' and p.policyname = 'of_all'
  loop
    wanted := array['baton_app', ${SPLIT_ROLES.map((role) => `'${role}'`).join(', ')}]::name[];
    ${WRITABLE_ROWS.map(({ table, role }) => `if policy.tablename = '${table}' then wanted := array_remove(wanted, '${role}'); end if;`).join('\n    ')}
    -- Each change takes the table for itself for an instant.
    if not (wanted <@ policy.roles and policy.roles <@ wanted) then
      execute format('alter policy of_all on %I to %s', policy.tablename, array_to_string(wanted, ', '));
    end if;
  end loop;
end $$`

const ownRows = (table: string, role: string, rows: string): string => `do $$
begin
  if not exists (select from pg_policies p where p.schemaname = 'public' and p.tablename = '${table}' and p.policyname = 'of_delivery') then
    create policy of_delivery on ${table} to ${role} using (true) with check (${rows});
  end if;
end $$`
