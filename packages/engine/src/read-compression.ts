// How far this installation lets messages fill the windows of their receivers, as its settings say it.
import type { Settings } from '@baton/runtime'
import type { CompressionBounds } from './known-receivers.ts'
import type { COMPRESSION_SETTINGS } from './settings.ts'

export const readCompression = (
  settings: Settings<typeof COMPRESSION_SETTINGS>,
): Required<CompressionBounds> => ({
  threshold: settings.BATON_COMPRESSION_THRESHOLD / 100,
  verbatimTurns: settings.BATON_VERBATIM_TURNS,
})
