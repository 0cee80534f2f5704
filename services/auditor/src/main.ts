// Starts the auditor as a process of its own.
import { createOpsService } from '@baton/http/ops'
import { runProcess } from '@baton/runtime/process'
import { createAuditor } from './auditor.ts'
import { AUDITOR_SETTINGS } from './settings.ts'

await runProcess('auditor', {
  settings: AUDITOR_SETTINGS,
  build({ settings, logger, metrics, life, tls }) {
    const auditor = createAuditor({ settings, logger, metrics, tls })
    const { ready } = auditor
    return [createOpsService({ settings, life, metrics, logger, tls, ready }), auditor]
  },
})
