// A guard of the audit log is taken off by hand.
import type { GameDay } from '../game-day.ts'

export const schemaAltered: GameDay = {
  name: 'schema-altered',
  breaks: 'a superuser disables the guards of the table of records',
  alerts: ['BatonLogSchemaAltered'],
  watched: { metric: 'baton_audit_definitions_altered', how: 'max' },
  timesFaster: 60,
  seconds: 150,
  perSecond: 2,
  breakIt: async ({ sql }) =>
    void (await sql('baton_audit', 'alter table audit.record disable trigger user')),
  mend: {
    says: [
      'npm run baton -- doctor   (names what was altered)',
      'psql baton_audit: alter table audit.record enable always trigger …   (each of them)',
    ],
    run: async ({ sql }) => void (await sql('baton_audit', GUARDED_AGAIN)),
  },
}

const GUARDED_AGAIN = `do $$ declare t name; begin
  for t in select tgname from pg_trigger where tgrelid = 'audit.record'::regclass and not tgisinternal loop
    execute format('alter table audit.record enable always trigger %I', t);
  end loop;
end $$`
