// Random things that somebody with the database's superuser and both tiers' files can do, one to four at a time.
import { readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SeededRandom } from '@baton/testkit'
import type { AttackedLog } from './attack-world.ts'

export interface Step {
  /** So that a person can repeat it. */
  readonly text: string
  run(log: AttackedLog): Promise<unknown>
}

/** Every table of the log; records and payloads stand in partitions of these. */
const TABLES = [
  'record',
  'payload',
  'idem',
  'batch_sig',
  'head',
  'seal',
  'chain_checkpoint',
  'witnessed',
  'task_map',
  'tree_hash',
  'archive',
  'legal_hold',
] as const
const ROLES = ['audit_writer', 'audit_reader', 'audit_sealer', 'audit_archiver', 'audit_eraser']

type Table = (typeof TABLES)[number]

/** Columns that an attacker would change, with expressions that give another value of the type. */
const EDITS: Readonly<Record<Table, Readonly<Record<string, readonly string[]>>>> = {
  record: {
    body: [
      FLIP('body'),
      `convert_to(replace(convert_from(body, 'UTF8'), '"attempt":1', '"attempt":2'), 'UTF8')`,
    ],
    record_hash: [FLIP('record_hash'), `sha256('\\x00'::bytea || body)`],
    task_id: ['gen_random_uuid()'],
    handoff_id: ['gen_random_uuid()'],
    event: ['3 - event % 2', '4', '34'],
    spent_micro: ['coalesce(spent_micro, 0) + 1', 'null'],
    seq: ['seq + 100000'],
    chain: ['1 - chain'],
  },
  payload: { ciphertext: [FLIP('ciphertext')], nonce: [FLIP('nonce')], segment: ['segment + 7'] },
  idem: {
    record_hash: [FLIP('record_hash')],
    request_hash: [FLIP('request_hash')],
    task_id: ['gen_random_uuid()'],
    task_seq: ['task_seq + 50'],
    seq: ['seq + 100000'],
    recorded_at: [`recorded_at + interval '1 second'`],
  },
  batch_sig: {
    signature: [FLIP('signature')],
    key_id: [`'00000000'`],
    last_hash: [FLIP('last_hash')],
    first_seq: ['greatest(first_seq - 1, 0)'],
  },
  head: { size: ['size - 1', 'size + 1'], last_hash: [FLIP('last_hash')], shards: ['shards - 1'] },
  seal: { body: [FLIP('body')], note: [`note || 'x'`], seq: ['seq + 1000'] },
  chain_checkpoint: { note: [`replace(note, '=', 'A')`], size: ['size + 1', 'size - 1'] },
  witnessed: {
    note: [
      `replace(note, '=', 'A')`,
      '(select note from audit.seal order by seq desc limit 1)',
      '(select note from audit.seal order by seq limit 1)',
    ],
    size: ['size - 1', 'size + 5'],
  },
  task_map: { node: [FLIP('node')], prefix: [`prefix || 'f'`], seals: ['seals + 1000'] },
  tree_hash: { hash: [FLIP('hash')], index: ['index + 1'] },
  archive: {
    size: ['size + 256', '0'],
    hot_from: ['0', 'hot_from + 1'],
    tail: ['tail + 1'],
    min_index: ['1'],
  },
  legal_hold: { task_id: ['gen_random_uuid()'], seq: ['seq + 1'] },
}

function FLIP(column: string): string {
  return `set_byte(${column}, (random() * (octet_length(${column}) - 1))::integer, (get_byte(${column}, 0) # 85) % 256)`
}

export const sql = (text: string): Step => ({
  text,
  run: ({ superuser }) => superuser.query({ text }),
})

/** The guards of a table come off before, and go back after: an attacker tidies up. */
export const unguarded = (table: string, text: string): Step =>
  sql(`do $$ declare t name; begin
    alter table audit.${table} disable trigger user;
    ${table === 'record' ? 'alter table audit.record drop constraint if exists record_hash_fits;' : ''}
    ${text};
    for t in select tgname from pg_trigger where tgrelid = 'audit.${table}'::regclass and not tgisinternal loop
      execute format('alter table audit.${table} enable always trigger %I', t);
    end loop;
    ${
      table === 'record'
        ? `alter table audit.record add constraint record_hash_fits check (record_hash = sha256('\\x00'::bytea || body)) not valid;
    update pg_constraint set convalidated = true where conname = 'record_hash_fits';`
        : ''
    }
  end $$`)

const row = (table: string, random: SeededRandom): string =>
  `ctid in (select ctid from audit.${table} order by md5(ctid::text || '${random.integer(0, 1e9)}') limit ${random.pick([1, 1, 1, 3])})`

function edit(random: SeededRandom): Step {
  const table = random.pick(TABLES)
  const column = random.pick(Object.keys(EDITS[table]))
  const value = random.pick(EDITS[table][column] ?? [])
  return unguarded(
    table,
    `update audit.${table} set ${column} = ${value} where ${row(table, random)}`,
  )
}

function remove(random: SeededRandom): Step {
  const table = random.pick(TABLES)
  const where = random.pick([row(table, random), row(table, random), 'true'])
  return unguarded(table, `delete from audit.${table} where ${where}`)
}

/** Whole tasks, their ends, and the ends of chains. */
function cut(random: SeededRandom): Step {
  const task = `(select task_id from audit.idem order by md5(task_id::text || '${random.integer(0, 1e9)}') limit 1)`
  const which = random.pick([
    `task_id = ${task}`,
    `task_id = ${task} and seq > (select min(seq) from audit.idem i where i.task_id = ${task})`,
    `chain = 0 and seq >= (select max(seq) - ${random.integer(0, 3)} from audit.record where chain = 0)`,
  ])
  const index = random.pick([`delete from audit.idem where ${which}`, 'select 1'])
  return {
    text: `cut ${which}; ${index}`,
    async run(log) {
      if (index !== 'select 1') await unguarded('idem', index).run(log)
      await unguarded('record', `delete from audit.record where ${which}`).run(log)
    },
  }
}

/** The record of a hold with its row and its place in the index; sometimes also all seals after it, and the map of tasks. */
function free(random: SeededRandom): Step {
  const kept = random.integer(0, 9) / 10
  const rest = random.pick<readonly string[]>([
    [],
    [],
    ['task_map'],
    ['seal', 'witnessed', 'chain_checkpoint'],
  ])
  const held = `(select chain, seq from audit.record where event = 36 order by seq desc limit 1)`
  const orders: readonly (readonly [string, string])[] = [
    ['idem', `delete from audit.idem where (chain, seq) in ${held}`],
    ['legal_hold', 'delete from audit.legal_hold where true'],
    ['record', `delete from audit.record where (chain, seq) in ${held}`],
    ...rest.map((table) => {
      const by = { seal: 'seq', task_map: 'seals' }[table]
      const where =
        by === undefined ? 'true' : `${by} > (select max(${by}) from audit.${table}) * ${kept}`
      return [table, `delete from audit.${table} where ${where}`] as const
    }),
  ]
  return {
    text: `free the held task${rest.length === 0 ? '' : `, ${rest.join()} to ${kept}`}`,
    run: async (log) => {
      for (const [table, text] of orders) await unguarded(table, text).run(log)
    },
  }
}

/** What stood there before, without what came after: a restored dump of some tables. */
function restore(random: SeededRandom): Step {
  const tables = random.pick([
    ['seal', 'chain_checkpoint', 'witnessed'],
    ['record', 'idem', 'batch_sig', 'head'],
    ['seal'],
    ['task_map'],
    ['legal_hold'],
  ])
  const kept = random.integer(1, 9)
  const steps = tables.map((table) => {
    const by = {
      seal: 'seq',
      record: 'seq',
      idem: 'seq',
      batch_sig: 'last_seq',
      task_map: 'seals',
    }[table]
    return unguarded(
      table,
      by === undefined
        ? `delete from audit.${table} where true`
        : `delete from audit.${table} where ${by} > (select max(${by}) from audit.${table}) * ${kept / 10}`,
    )
  })
  return {
    text: `restore ${tables.join()} to ${kept / 10}`,
    run: async (log) => {
      for (const step of steps) await step.run(log)
    },
  }
}

/** What queries see, or what guards them, is other than the migrations made it. */
function redefine(random: SeededRandom): Step {
  const table = random.pick(['record', 'idem', 'seal', 'batch_sig', 'head', 'legal_hold'] as const)
  const role = random.pick(ROLES)
  return sql(
    random.pick([
      `alter table audit.${table} disable trigger user`,
      `alter table audit.${table} enable row level security; create policy p on audit.${table} for select using (true)`,
      `alter table audit.${table} enable row level security; alter table audit.${table} force row level security; create policy p on audit.${table} using (current_setting('application_name') = 'test')`,
      `create rule r as on insert to audit.${table} do instead nothing`,
      `grant insert, update, delete on audit.${table} to ${role}`,
      `grant select on audit.${table} to public`,
      `alter table audit.${table} owner to ${role}`,
      `create function audit.lie() returns trigger language plpgsql as 'begin return null; end'; create trigger lie before insert on audit.${table} for each row execute function audit.lie()`,
      `create or replace function audit.refuse_change() returns trigger language plpgsql as 'begin return coalesce(new, old); end'`,
      `create or replace view audit.handoff_audit as select * from audit.handoff_audit_before where false`,
      `alter table audit.${table} alter column ${table === 'record' ? 'body' : 'ctid'} set storage plain`,
      'drop index audit.record_task',
      'alter table audit.record drop constraint record_hash_fits',
      'alter table audit.idem drop constraint idem_pkey',
      'alter table audit.batch_sig set unlogged',
      'alter table audit.idem set unlogged',
      `alter table audit.seal alter column note type varchar`,
      `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
      `alter function audit.append owner to ${role}`,
      `alter function audit.append security invoker`,
      `alter table audit.record detach partition audit.${'record_'}${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`,
      `alter table audit.record rename to record_true; create view audit.record as select * from audit.record_true where event <> 2; grant select on audit.record to audit_reader`,
      `alter table audit.legal_hold rename to hold_true; create view audit.legal_hold as select * from audit.hold_true where false; grant select on audit.legal_hold to audit_reader`,
    ]),
  )
}

/** The cold store and the anchor: bytes flipped, cut, gone, exchanged. */
function file(random: SeededRandom): Step {
  const isAnchor = random.next() < 0.3
  const act = random.pick(['delete', 'flip', 'cut', 'empty', 'swap'])
  const [one, other] = [random.next(), random.next()]
  return {
    text: `${act} ${isAnchor ? 'the anchor' : `object ${one.toFixed(3)} of the cold store`}`,
    async run({ anchorFile, coldFolder }) {
      const all = filesIn(coldFolder)
      const path = isAnchor ? anchorFile : (all[Math.floor(one * all.length)] as string)
      const bytes = await readFile(path)
      if (act === 'delete') await rm(path)
      if (act === 'cut') await writeFile(path, bytes.subarray(0, Math.floor(bytes.length / 2)))
      if (act === 'empty') await writeFile(path, '')
      if (act === 'swap')
        await writeFile(path, await readFile(all[Math.floor(other * all.length)] as string))
      if (act !== 'flip' || bytes.length === 0) return
      const at = Math.floor(other * bytes.length)
      bytes[at] = (bytes[at] as number) ^ 1
      await writeFile(path, bytes)
    },
  }
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

const KINDS = [edit, edit, edit, remove, remove, cut, free, restore, redefine, redefine, file]

/** One attack: what one person did before they went. */
export const attackOf = (random: SeededRandom): readonly Step[] =>
  Array.from({ length: random.pick([1, 1, 2, 3, 4]) }, () => random.pick(KINDS)(random))
