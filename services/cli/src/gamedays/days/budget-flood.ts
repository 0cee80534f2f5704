// An agent deducts far more than its tasks have.
import type { GameDay } from '../game-day.ts'

export const budgetFlood: GameDay = {
  name: 'budget-flood',
  breaks: 'every second task costs twice its budget',
  alerts: ['BatonBudgetsExhausted'],
  watched: {
    metric: 'baton_handoff_validation_failures_total',
    where: { reason: 'BUDGET_EXHAUSTED' },
    how: 'sum',
  },
  timesFaster: 60,
  seconds: 120,
  perSecond: 4,
  breakIt: async ({ load }) => load.mix('expensive', 2),
  mend: {
    says: [
      'npm run baton -- cost   (which agent deducts how much)',
      'mend its prices, or give its tasks more (here: no such task any more)',
    ],
    run: async ({ load }) => load.calm(),
  },
}
