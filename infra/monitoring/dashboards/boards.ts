// All dashboards, in the order in which an on-call engineer opens them.
import { CAPACITY } from './capacity.ts'
import { COST } from './cost.ts'
import { DELIVERY } from './delivery.ts'
import { LOG } from './log.ts'
import { TIME } from './time.ts'
import { WELL } from './well.ts'

export const BOARDS = [WELL, TIME, DELIVERY, LOG, COST, CAPACITY] as const

export type { Board, Panel } from './board.ts'
