// A setting of Postgres by which a crash would lose what was acknowledged.
import type { GameDay } from '../game-day.ts'

export const serverUnsafe: GameDay = {
  name: 'server-unsafe',
  breaks: 'a superuser sets fsync off in Postgres',
  alerts: ['BatonServerUnsafe'],
  watched: { metric: 'baton_server_unsafe', where: { server: 'postgres' }, how: 'max' },
  timesFaster: 60,
  seconds: 50,
  perSecond: 2,
  async breakIt({ sql }) {
    await sql('baton', 'alter system set fsync = off')
    await sql('baton', 'select pg_reload_conf()')
  },
  mend: {
    says: [
      'npm run baton -- doctor   (names the setting)',
      'psql: alter system reset fsync',
      'psql: select pg_reload_conf(), and then: checkpoint',
    ],
    async run({ sql }) {
      await sql('baton', 'alter system reset fsync')
      await sql('baton', 'select pg_reload_conf()')
      await sql('baton', 'checkpoint')
    },
  },
}
