// How far this installation lets a task fan out, as its settings say it.
import type { Settings } from '@baton/runtime'
import type { FanOutBounds } from '@baton/store'
import type { FAN_OUT_SETTINGS } from './settings.ts'

export const FAN_OUT_BOUNDS: FanOutBounds = { depthMax: 8, openMax: 1_000 }

export const readFanOutBounds = (settings: Settings<typeof FAN_OUT_SETTINGS>): FanOutBounds => ({
  depthMax: settings.BATON_FAN_OUT_DEPTH_MAX,
  openMax: settings.BATON_BRANCHES_OPEN_MAX,
})
