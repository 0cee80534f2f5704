// Somebody holds a lock by hand: statements keep their connections, and others wait for one.
import type { GameDay } from '../game-day.ts'

const HELD_SECONDS = 90

export const connectionsExhausted: GameDay = {
  name: 'connections-exhausted',
  breaks: 'a session holds a lock on the table of handoffs: statements keep their connections',
  alerts: ['BatonConnectionsExhausted'],
  watched: { metric: 'baton_pool_connections', where: { state: 'waiting' }, how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 6,
  async breakIt({ sql, pause }) {
    const lock = `begin; lock table handoff in access exclusive mode; select pg_sleep(${HELD_SECONDS}); commit`
    // It ends when the mending ends its session.
    sql('baton', lock).catch(() => undefined)
    await pause(1_000)
  },
  mend: {
    says: [
      'psql: select pid, query from pg_stat_activity where wait_event is not null',
      'psql: select pg_terminate_backend(PID)',
    ],
    run: async ({ sql }) =>
      void (await sql(
        'baton',
        `select pg_terminate_backend(pid) from pg_stat_activity where query like 'begin; lock table handoff%' and pid <> pg_backend_pid()`,
      )),
  },
}
