// Attacks by which a review once got wrong answers out of the log: each as it was made then, and what the readings say of it now.
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesIn, sql, unguarded } from './attack-statements.ts'
import type { Step } from './attack-statements.ts'
import type { AttackWorld } from './attack-world.ts'

export interface KnownAttack {
  readonly name: string
  readonly steps: (tasks: AttackWorld['tasks']) => readonly Step[]
  /** `verify` must find it; otherwise it changes nothing that `verify` speaks of. */
  readonly verify: 'found' | 'same'
  /** Tasks whose trace must not pass as whole. The traces of others must be what they were, or be refused. */
  readonly traces?: readonly ('hot' | 'cold' | 'both' | 'held')[]
  /** Other readings that must find something. */
  readonly others?: readonly 'told holds'[]
}

const today = () => new Date().toISOString().slice(0, 10).replaceAll('-', '')

const lastOf = (taskId: string) => `(chain, seq) = (select chain, seq from audit.idem
  where task_id = '${taskId}' order by task_seq desc limit 1)`

const onFiles = (text: string, run: Step['run']): Step => ({ text, run })

/** Bytes apart; shorter than any record. */
const FLIPPED_EVERY = 64

/** Every object of a kind, a bit of it flipped in each record. */
const flipObjects = (text: string, isMeant: (path: string) => boolean): Step =>
  onFiles(text, async ({ coldFolder }) => {
    for (const path of filesIn(coldFolder).filter(isMeant)) {
      const bytes = await readFile(path)
      for (let at = FLIPPED_EVERY >> 1; at < bytes.length; at += FLIPPED_EVERY)
        bytes[at] = (bytes[at] as number) ^ 1
      await writeFile(path, bytes)
    }
  })

const redefineView = sql(`do $$ begin execute 'create or replace view audit.handoff_audit as '
  || replace(pg_get_viewdef('audit.handoff_audit'::regclass), '''REJECTED''', '''ACCEPTED'''); end $$`)

/** Everything as it was after the first seals. */
const older: Step = onFiles('an older copy of the whole database', async (log) => {
  const { rows } = await log.superuser.query<{ seals: number }>({
    text: 'select max(seq) / 2 as seals from audit.seal',
  })
  const seals = rows[0]?.seals ?? 0
  const sizes = `(select c ->> 'origin' as origin, (c ->> 'size')::bigint as size
    from audit.seal s, jsonb_array_elements(convert_from(s.body, 'UTF8')::jsonb -> 'chains') c where s.seq = ${seals})`
  const gone = (table: string, seq = 'seq') =>
    unguarded(
      table,
      `delete from audit.${table} t using audit.head h, ${sizes} z
      where h.chain = t.chain and z.origin = h.origin and t.${seq} >= z.size`,
    )
  const head = unguarded(
    'head',
    `update audit.head h set size = z.size, last_hash = r.record_hash, last_recorded_at = r.recorded_at
    from ${sizes} z, audit.idem r where z.origin = h.origin and r.chain = h.chain and r.seq = z.size - 1`,
  )
  for (const step of [
    gone('record'),
    gone('payload'),
    head,
    gone('idem'),
    gone('batch_sig', 'last_seq'),
  ]) {
    await step.run(log)
  }
  await unguarded('seal', `delete from audit.seal where seq > ${seals}`).run(log)
  await unguarded('witnessed', 'delete from audit.witnessed').run(log)
  await unguarded('chain_checkpoint', 'delete from audit.chain_checkpoint').run(log)
  await unguarded('task_map', `delete from audit.task_map where seals > ${seals}`).run(log)
})

/** Every record of a chain so far passes for expired. */
const expireAll = unguarded(
  'archive',
  `update audit.archive a set size = h.to_size, hot_from = h.to_size, min_index = h.to_size
    from (select chain, (size + 255) / 256 * 256 as to_size from audit.head) h where h.chain = a.log and a.log = 0`,
)

/** A record that nobody made follows the last one of a task, at a place that no reader of chains comes to. */
const stray = (taskId: string, place: string): Step =>
  sql(`do $$ declare r audit.record; i audit.idem; begin
    select * into i from audit.idem where task_id = '${taskId}' order by task_seq desc limit 1;
    select * into r from audit.record where chain = i.chain and seq = i.seq;
    ${place}
    r.body := convert_to(regexp_replace(regexp_replace(regexp_replace(convert_from(r.body, 'UTF8'),
      '"previousTaskRecordHash":"[0-9a-f]{64}"', '"previousTaskRecordHash":"' || encode(i.record_hash, 'hex') || '"'),
      '"seq":\\d+', '"seq":' || r.seq), '"taskSeq":\\d+', '"taskSeq":' || i.task_seq + 1), 'UTF8');
    r.record_hash := sha256('\\x00'::bytea || r.body);
    insert into audit.record select (r).*;
    insert into audit.idem values (gen_random_uuid(), i.request_hash, r.chain, r.seq, r.recorded_at, r.record_hash, i.task_id, i.task_seq + 1);
  end $$`)

const anchorGone = onFiles('the anchor file is gone', ({ anchorFile }) => rm(anchorFile))
const anchorCut = onFiles('the anchor file is cut', async ({ anchorFile }) => {
  const lines = (await readFile(anchorFile, 'utf8')).split('\n')
  await writeFile(anchorFile, `${lines.slice(0, Math.ceil(lines.length / 3)).join('\n')}\n`)
})

export const KNOWN_ATTACKS: readonly KnownAttack[] = [
  { name: '01 a view shows rejections as accepted', steps: () => [redefineView], verify: 'found' },
  {
    name: '02 row security hides a task from readers',
    steps: ({ hot }) => [
      sql(`alter table audit.record enable row level security;
        create policy p on audit.record using (task_id <> '${hot}')`),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '03 forced row security hides it from everybody but one application',
    steps: ({ hot }) => [
      sql(`alter table audit.record enable row level security;
        alter table audit.record force row level security;
        create policy p on audit.record using (task_id <> '${hot}' or current_setting('application_name') = 'baton-cli')`),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '44 a table becomes a view that lies by who asks',
    steps: ({ hot }) => [
      sql(`alter table audit.record rename to record_true;
        create view audit.record as select * from audit.record_true
          where task_id <> '${hot}' or current_query() like '%copy%';
        grant select on audit.record to audit_reader`),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '04 the last record of a task is rewritten, hash, index and all',
    steps: ({ hot }) => [
      unguarded(
        'record',
        `update audit.record set body = convert_to(replace(convert_from(body, 'UTF8'), '"attempt":1', '"attempt":2'), 'UTF8') where ${lastOf(hot)}`,
      ),
      unguarded(
        'record',
        `update audit.record set record_hash = sha256('\\x00'::bytea || body) where ${lastOf(hot)}`,
      ),
      unguarded(
        'idem',
        `update audit.idem i set record_hash = r.record_hash from audit.record r
        where r.chain = i.chain and r.seq = i.seq and i.task_id = '${hot}'`,
      ),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '05 the last record of a task is deleted',
    steps: ({ hot }) => [
      unguarded('record', `delete from audit.record where ${lastOf(hot)}`),
      unguarded('idem', `delete from audit.idem where ${lastOf(hot)}`),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '06 all but the first record of a task are deleted',
    steps: ({ hot }) => [
      unguarded(
        'record',
        `delete from audit.record r using audit.idem i
        where i.task_id = '${hot}' and i.task_seq > 0 and r.chain = i.chain and r.seq = i.seq`,
      ),
      unguarded('idem', `delete from audit.idem where task_id = '${hot}' and task_seq > 0`),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '06b a task is removed as a whole',
    steps: ({ hot }) => [
      unguarded('record', `delete from audit.record where task_id = '${hot}'`),
      unguarded('idem', `delete from audit.idem where task_id = '${hot}'`),
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '09 the key of all batches is another one',
    steps: () => [unguarded('batch_sig', `update audit.batch_sig set key_id = '00000000'`)],
    verify: 'found',
  },
  {
    name: '14 digests of requests are changed',
    steps: () => [unguarded('idem', `update audit.idem set request_hash = sha256(request_hash)`)],
    verify: 'found',
  },
  {
    name: '15 the row of a legal hold is deleted',
    steps: () => [unguarded('legal_hold', 'delete from audit.legal_hold')],
    verify: 'found',
  },
  {
    name: '15b no column and no table says any more that a task is held',
    steps: () => [
      unguarded('record', 'update audit.record set event = 1 where event = 36'),
      unguarded('legal_hold', 'delete from audit.legal_hold'),
    ],
    verify: 'found',
    traces: ['held'],
    others: ['told holds'],
  },
  {
    name: '16 copies of signed checkpoints are garbage',
    steps: () => [
      unguarded('chain_checkpoint', `update audit.chain_checkpoint set note = 'garbage'`),
      unguarded('witnessed', `update audit.witnessed set note = 'garbage'`),
    ],
    verify: 'found',
  },
  {
    name: '17 copies of signed checkpoints are deleted',
    steps: () => [
      unguarded('chain_checkpoint', 'delete from audit.chain_checkpoint'),
      unguarded('witnessed', 'delete from audit.witnessed'),
    ],
    verify: 'found',
  },
  {
    name: '18 marks of the archive are raised',
    steps: () => [
      unguarded('archive', 'update audit.archive set size = size + 256, tail = tail + 300'),
    ],
    verify: 'found',
  },
  {
    name: '19 triggers off, rights and ownership to a reader',
    steps: () => [
      sql(`alter table audit.record disable trigger user; grant all on audit.record to audit_reader;
        alter table audit.idem owner to audit_reader`),
    ],
    verify: 'found',
  },
  {
    name: '20 tables that a crash empties',
    steps: () => [
      sql('alter table audit.batch_sig set unlogged'),
      sql('alter table audit.idem set unlogged'),
    ],
    verify: 'found',
  },
  {
    name: '21 commits of the writer are not waited for',
    steps: () => [
      sql(
        `do $$ begin execute format('alter role audit_writer in database %I set synchronous_commit = off', current_database()); end $$`,
      ),
    ],
    verify: 'found',
  },
  { name: '22 an older database', steps: () => [older], verify: 'found', traces: [] },
  {
    name: '23 an older database, and the anchor is gone',
    steps: () => [older, anchorGone],
    verify: 'found',
    traces: [],
  },
  {
    name: '24 an older database, and the anchor is cut',
    steps: () => [older, anchorCut],
    verify: 'found',
    traces: [],
  },
  {
    name: '26 all seals are deleted',
    steps: () => [
      unguarded('seal', 'delete from audit.seal'),
      unguarded('witnessed', 'delete from audit.witnessed'),
      unguarded('chain_checkpoint', 'delete from audit.chain_checkpoint'),
    ],
    verify: 'found',
    traces: [],
  },
  {
    name: '28 a column has another type',
    steps: () => [sql('alter table audit.seal alter column note type varchar')],
    verify: 'found',
  },
  {
    name: '31 a collation that does not tell cases apart',
    steps: () => [
      sql(`create collation audit.blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        alter table audit.batch_sig alter column key_id type text collate audit.blind`),
    ],
    verify: 'found',
  },
  {
    name: '32 two tasks exchange their records',
    steps: ({ hot, both }) => [
      unguarded(
        'record',
        `update audit.record set task_id = case task_id when '${hot}'::uuid then '${both}'::uuid else '${hot}'::uuid end
        where task_id in ('${hot}', '${both}')`,
      ),
    ],
    verify: 'found',
    traces: ['hot', 'both'],
  },
  {
    name: '33 a day is detached',
    steps: () => [sql(`alter table audit.record detach partition audit.record_${today()}`)],
    verify: 'found',
    traces: ['hot', 'held'],
  },
  {
    name: '34 the time of a payload is another one',
    steps: () => [
      unguarded(
        'payload',
        `update audit.payload set recorded_at = recorded_at + interval '1 ms' where segment = 0`,
      ),
    ],
    verify: 'found',
  },
  {
    name: '37 the newest seals are deleted',
    steps: () => [
      unguarded('seal', 'delete from audit.seal where seq > (select max(seq) - 3 from audit.seal)'),
    ],
    verify: 'found',
  },
  {
    name: '38 two heads are exchanged',
    steps: () => [
      unguarded(
        'head',
        `update audit.head h set size = o.size, last_hash = o.last_hash from audit.head o where o.chain = 1 - h.chain`,
      ),
    ],
    verify: 'found',
  },
  {
    name: '58 a head counts fewer chains than there are',
    steps: () => [unguarded('head', 'update audit.head set shards = shards - 1 where chain = 0')],
    verify: 'found',
  },
  {
    name: '59 every head counts fewer chains than there are',
    steps: () => [unguarded('head', 'update audit.head set shards = shards - 1')],
    verify: 'found',
  },
  {
    name: '40 a bundle of the cold store is flipped',
    steps: () => [flipObjects('bundles', (path) => path.includes('entries'))],
    verify: 'found',
    traces: ['cold', 'both'],
  },
  {
    name: '41 hash tiles of the cold store are flipped',
    steps: () => [flipObjects('tiles', (path) => /\/tile\/\d/.test(path))],
    verify: 'found',
  },
  {
    name: '43 the cold store is deleted',
    steps: () => [
      onFiles('the cold store is gone', ({ coldFolder }) => rm(coldFolder, { recursive: true })),
    ],
    verify: 'found',
    traces: ['cold', 'both'],
  },
  {
    name: '45 the position of the scrubber is another one',
    steps: () => [sql(`select audit.store_scrub('{}'::jsonb)`)],
    verify: 'same',
  },
  {
    name: '46 the cosigned copy is an older one, and the anchor too',
    steps: () => [
      unguarded(
        'witnessed',
        'update audit.witnessed set size = size - 1, note = (select note from audit.seal where seq = size - 2)',
      ),
      onFiles('the anchor loses its last line', async ({ anchorFile }) => {
        const lines = (await readFile(anchorFile, 'utf8')).trimEnd().split('\n')
        await writeFile(anchorFile, `${lines.slice(0, -1).join('\n')}\n`)
      }),
    ],
    verify: 'same',
  },
  {
    name: '54 an object of the cold store stands in place of another',
    steps: () => [
      onFiles('two objects exchanged', async ({ coldFolder }) => {
        const [one, other] = filesIn(coldFolder).filter((path) => path.includes('entries')) as [
          string,
          string,
        ]
        await cp(one, join(coldFolder, 'kept'))
        await cp(other, one)
        await cp(join(coldFolder, 'kept'), other)
      }),
    ],
    verify: 'found',
  },
  {
    name: '55 a task that was deleted passes for expired',
    steps: ({ hot }) => [
      unguarded('record', `delete from audit.record where task_id = '${hot}'`),
      expireAll,
    ],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '56 a record is added in a chain that there is not',
    steps: ({ hot }) => [stray(hot, 'r.chain := 99;')],
    verify: 'found',
    traces: ['hot'],
  },
  {
    name: '57 a record is added far behind the end of its chain',
    steps: ({ hot }) => [stray(hot, 'r.seq := 1000000;')],
    verify: 'found',
    traces: ['hot'],
  },
]
