// Faults of Postgres and of the audit database inside it: crashes, ended sessions, refusals, locks, held snapshots.
import { eventually } from '@baton/testkit'
import type { Pool } from '@baton/store'
import { pause } from './fault.ts'
import type { FaultKind, Scene } from './fault.ts'
import type { World } from './world.ts'

const RECOVERED_MAX_MS = 30_000
const onPostgres = { targets: ['postgres'], resource: 'postgres' } as const
const inDatabase = { targets: ['postgres'], resource: 'database' } as const
const onAudit = { targets: ['audit'], resource: 'audit' } as const

/** Of what serves, sends and delivers. */
const ROLES = ['baton_gateway', 'baton_delivery']

const ask = ({ admin }: World, text: string, values: unknown[] = []) =>
  admin.query<Record<string, unknown>>({ text, values })

const databasesOf = ({ system }: World) => ({
  store: new URL(system.adminUrls.store).pathname.slice(1),
  audit: new URL(system.adminUrls.audit).pathname.slice(1),
})

const answersAgain = (world: World) =>
  eventually(() => ask(world, 'select').then(() => true), {
    deadlineMs: RECOVERED_MAX_MS,
    describe: 'Postgres answers again',
  })

const ENDS = `select pg_terminate_backend(pid) from pg_stat_activity
  where pid <> pg_backend_pid() and application_name <> 'chaos' and datname = any($1)`

export const POSTGRES_FAULTS: readonly FaultKind[] = [
  {
    kind: 'postgres.kill-backend',
    weight: 3,
    ...onPostgres,
    draw: () => ({}),
    async make({ world }) {
      const { rows } = await ask(
        world,
        `select pid from pg_stat_activity where datname = $1 and application_name <> 'chaos'
         and backend_type = 'client backend' limit 1`,
        [databasesOf(world).store],
      )
      process.kill(Number(rows[0]?.['pid']), 'SIGKILL')
      await answersAgain(world)
    },
  },
  {
    kind: 'postgres.crash',
    weight: 2,
    ...onPostgres,
    draw: (random) => ({ downMs: random.integer(0, 1_500) }),
    async make({ world, number }) {
      await world.postgres.crash()
      await pause(number('downMs'))
      await world.postgres.restart()
      await answersAgain(world)
    },
  },
  {
    kind: 'postgres.terminate-storm',
    weight: 3,
    ...onPostgres,
    draw: (random) => ({ times: random.integer(1, 6), gapMs: random.integer(50, 400) }),
    async make({ world, number }) {
      for (let left = number('times'); left > 0; left -= 1) {
        await ask(world, ENDS, [[databasesOf(world).store]])
        await pause(number('gapMs'))
      }
    },
  },
  {
    kind: 'postgres.read-only',
    weight: 2,
    ...onPostgres,
    draw: (random) => ({ forMs: random.integer(300, 2_500) }),
    async make({ world, number }) {
      await ask(world, `alter system set default_transaction_read_only = on`)
      await ask(world, 'select pg_reload_conf()')
      await pause(number('forMs'))
      await reset(world)
    },
  },
  {
    kind: 'postgres.no-connections',
    weight: 2,
    ...onPostgres,
    draw: (random) => ({ forMs: random.integer(300, 2_500) }),
    async make({ world, number }) {
      for (const role of ROLES) await ask(world, `alter role ${role} connection limit 1`)
      try {
        await ask(world, ENDS, [[databasesOf(world).store]])
        await pause(number('forMs'))
      } finally {
        for (const role of ROLES) await takeBack(world, `alter role ${role} connection limit -1`)
      }
    },
  },
  {
    kind: 'postgres.lock-outbox',
    weight: 3,
    ...inDatabase,
    draw: (random) => ({ forMs: random.integer(300, 4_000) }),
    make: (scene) =>
      held(scene, ['begin', 'lock table outbox in access exclusive mode'], scene.number('forMs')),
  },
  {
    kind: 'postgres.held-snapshot',
    weight: 2,
    ...inDatabase,
    draw: (random) => ({ forMs: random.integer(5_000, 15_000) }),
    make: (scene) =>
      held(
        scene,
        ['begin isolation level repeatable read', 'select count(*) from outbox'],
        scene.number('forMs'),
      ),
  },
  {
    kind: 'audit.database-closed',
    weight: 3,
    ...onAudit,
    draw: (random) => ({ forMs: random.integer(300, 3_000) }),
    async make({ world, number }) {
      const { audit } = databasesOf(world)
      await ask(world, `alter database ${audit} allow_connections false`)
      try {
        await ask(world, ENDS, [[audit]])
        await pause(number('forMs'))
      } finally {
        await takeBack(world, `alter database ${audit} allow_connections true`)
      }
    },
  },
  {
    kind: 'audit.slow',
    weight: 3,
    ...onAudit,
    draw: (random) => ({ latencyMs: random.integer(100, 900), forMs: random.integer(500, 3_000) }),
    async make({ world, number }) {
      const link = world.links.get('auditor-postgres')
      link?.worsen({ latencyMs: number('latencyMs') })
      await pause(number('forMs'))
      link?.heal()
    },
  },
  {
    kind: 'audit.connections-ended',
    weight: 3,
    ...onAudit,
    draw: () => ({}),
    async make({ world }) {
      await ask(world, ENDS, [[databasesOf(world).audit]])
    },
  },
]

/** Takes back whatever a fault may have left when it was cut short. */
export async function reset(world: World): Promise<void> {
  const { audit } = databasesOf(world)
  await answersAgain(world)
  for (const text of [
    'alter system reset default_transaction_read_only',
    'select pg_reload_conf()',
    ...ROLES.map((role) => `alter role ${role} connection limit -1`),
    `alter database ${audit} allow_connections true`,
  ]) {
    await takeBack(world, text)
  }
}

/** However many other faults Postgres is under: what was closed does not stay closed for good. */
const takeBack = (world: World, text: string) =>
  eventually(() => ask(world, text).then(() => true), {
    deadlineMs: RECOVERED_MAX_MS,
    describe: `Postgres takes back: ${text}`,
  })

async function held({ world }: Scene, statements: readonly string[], forMs: number): Promise<void> {
  const client = await (world.admin satisfies Pool).connect()
  client.on('error', () => undefined)
  try {
    await client.query('set idle_in_transaction_session_timeout = 0; set lock_timeout = 0')
    for (const statement of statements) await client.query(statement)
    await pause(forMs)
    // Another fault may have ended this session, and with it what it held.
    await client.query('rollback').catch(() => undefined)
  } finally {
    client.release(true)
  }
}
