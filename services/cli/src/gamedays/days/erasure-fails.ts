// The vault does not answer while a person is erased.
import type { GameDay } from '../game-day.ts'
import { PERSON } from '../load.ts'

const VAULT_AWAY = [
  'alter database baton_vault allow_connections false',
  `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'baton_vault'`,
]

export const erasureFails: GameDay = {
  name: 'erasure-fails',
  breaks: 'the vault refuses connections while a person is erased',
  alerts: ['BatonErasuresFail'],
  watched: { metric: 'baton_audit_erasures_total', where: { outcome: 'failed' }, how: 'sum' },
  timesFaster: 360,
  seconds: 120,
  perSecond: 2,
  async breakIt({ load, baton, batonAs, sql, pause }) {
    load.mix('personal', 1)
    await pause(3_000)
    load.calm()
    await pause(3_000)
    const { erasureId } = JSON.parse(await baton('erase', PERSON)) as { erasureId: string }
    for (const text of VAULT_AWAY) await sql('baton_audit', text)
    // It fails, and is confirmed again once the vault is back.
    await batonAs('reviewer-2', 'erase', PERSON, '--confirm', erasureId).catch(() => undefined)
  },
  mend: {
    says: [
      'grep -h -e erasure. -e audit.request_failed .baton/logs/auditor.log | tail -n 10',
      'bring the vault back (here: it takes connections again)',
      'npm run baton -- erase PERSON --confirm ID --as reviewer-2   (again: it is safe to repeat)',
    ],
    async run({ sql, batonAs }) {
      await sql('baton_audit', 'alter database baton_vault allow_connections true')
      const [erasure] = await sql('baton_audit', 'select id from audit.erasure')
      const { id } = erasure as { readonly id: string }
      await batonAs('reviewer-2', 'erase', PERSON, '--confirm', id)
    },
  },
}
