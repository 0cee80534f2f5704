// Looks at budgets while everything is under way: they hold at every moment, not only in the end.
import { storeInvariants } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Evidence } from './evidence.ts'

const EVERY_MS = 1_000

const OVERSPENT = 'select id from task where spent_micro_usd > budget_micro_usd limit 20'

/** `stop` answers what was broken at some moment. While a fault keeps Postgres from answering, nothing is seen. */
export function watchBudgets(pool: Pool): { stop(): Promise<Evidence['rules']> } {
  const broken = new Map<string, Set<string>>()
  const rules = storeInvariants(pool).filter(({ promise }) => promise === 'I8')
  const see = (rule: string, ids: readonly string[]): void => {
    if (ids.length > 0) broken.set(rule, new Set([...(broken.get(rule) ?? []), ...ids]))
  }
  async function look(): Promise<void> {
    for (const { rule, check } of rules) see(rule, await check())
    const { rows } = await pool.query<{ id: string }>({ text: OVERSPENT })
    see(
      'no task costs more than its budget',
      rows.map(({ id }) => id),
    )
  }
  let looking: Promise<void> = Promise.resolve()
  let isIdle = true
  const timer = setInterval(() => {
    if (!isIdle) return
    isIdle = false
    looking = look()
      .catch(() => undefined)
      .finally(() => (isIdle = true))
  }, EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      await looking
      return [...broken].map(([rule, ids]) => ({
        promise: 'I8',
        rule: `at every moment ${rule}`,
        ids: [...ids],
      }))
    },
  }
}
