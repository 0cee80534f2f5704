// The classifier that an installation's settings name.
import type { Settings, Tls } from '@baton/runtime'
import type { Classifier } from './classifier.ts'
import { createHttpClassifier } from './http-classifier.ts'
import type { CLASSIFIER_SETTINGS } from './settings.ts'

/** Throws BATON_PLAINTEXT_REFUSED. Undefined where none is set: the scanner decides alone then. */
export function openClassifier(
  settings: Settings<typeof CLASSIFIER_SETTINGS>,
  tls: Tls,
): Classifier | undefined {
  const { BATON_CLASSIFIER_URL: url } = settings
  if (url === undefined) return undefined
  return createHttpClassifier({
    url,
    name: settings.BATON_CLASSIFIER_NAME,
    token: settings.BATON_CLASSIFIER_TOKEN,
    timeoutMs: settings.BATON_CLASSIFIER_TIMEOUT_MS,
    seesAll: settings.BATON_CLASSIFIER_SEES === 'all',
    tls,
  })
}
