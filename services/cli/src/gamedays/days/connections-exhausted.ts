// Somebody holds a lock by hand: statements keep their connections, and others wait for one. What executes shares its
// statements and waits for none; people who read do not.
import type { GameDay } from '../game-day.ts'

const HELD_SECONDS = 90
const READERS = 40

export const connectionsExhausted: GameDay = {
  name: 'connections-exhausted',
  breaks:
    'a session holds a lock on the table of handoffs while forty people read: statements keep their connections',
  alerts: ['BatonConnectionsExhausted'],
  watched: { metric: 'baton_pool_connections', where: { state: 'waiting' }, how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 6,
  async breakIt({ sql, readers, pause }) {
    const unbounded =
      'set local lock_timeout = 0; set local statement_timeout = 0; set local transaction_timeout = 0'
    const lock = `begin; ${unbounded}; lock table handoff in access exclusive mode; select pg_sleep(${HELD_SECONDS}); commit`
    const held = sql('baton', lock)
    // It ends when the mending ends its session.
    held.catch(() => undefined)
    await Promise.race([held, pause(2_000)])
    readers(READERS, 'tasks')
  },
  mend: {
    says: [
      'psql: select pid, query from pg_stat_activity where wait_event is not null',
      'psql: select pg_terminate_backend(PID)',
    ],
    run: async ({ sql }) =>
      void (await sql(
        'baton',
        `select pg_terminate_backend(pid) from pg_stat_activity where query like 'begin; %lock table handoff%' and pid <> pg_backend_pid()`,
      )),
  },
}
