// The summariser that an installation's settings name.
import { usdFromMicro } from '@baton/protocol'
import { refusePlainUrl } from '@baton/runtime'
import type { Settings, Tls } from '@baton/runtime'
import { createModelSummariser } from '@baton/summarise'
import type { Summariser } from '@baton/summarise'
import type { SUMMARISER_SETTINGS } from './settings.ts'

/** Throws BATON_PLAINTEXT_REFUSED. Undefined where none is set: older turns are extracted then. */
export function openSummariser(
  settings: Settings<typeof SUMMARISER_SETTINGS>,
  tls: Tls,
): Summariser | undefined {
  const { BATON_SUMMARISER_BASE_URL: baseUrl } = settings
  if (baseUrl === undefined) return undefined
  refusePlainUrl(tls, { url: baseUrl, setting: 'BATON_SUMMARISER_BASE_URL' })
  return createModelSummariser({
    baseUrl,
    model: settings.BATON_SUMMARISER_MODEL,
    apiKey: settings.BATON_SUMMARISER_API_KEY,
    promptUSDPerMillion: usdFromMicro(settings.BATON_SUMMARISER_PROMPT_PRICE),
    completionUSDPerMillion: usdFromMicro(settings.BATON_SUMMARISER_COMPLETION_PRICE),
    timeoutMs: settings.BATON_SUMMARISER_TIMEOUT_MS,
    tls,
  })
}
