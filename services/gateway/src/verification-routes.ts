// Whether the whole log is what was recorded, for who has no access to the auditor. Reading all of it is dear: an answer is given again for a minute.
import type { FastifyInstance } from 'fastify'
import { shareReading } from '@baton/runtime'
import type { AuditReads } from './audit-reads.ts'
import { answers, only, problems } from './operation.ts'
import { askedOfAuditor } from './task-trace.ts'

const FRESH_MS = 60_000
const FINDINGS_MAX = 100

export function addVerificationRoutes(
  scope: FastifyInstance,
  { audit }: { readonly audit: Pick<AuditReads, 'verify'> },
): void {
  const read = shareReading(async () => {
    const { verdict, records, findings, findingsTotal } = await audit.verify()
    const shown = findings.slice(0, FINDINGS_MAX)
    return {
      verdict,
      records,
      findings: shown,
      findingsTotal,
      verifiedAt: new Date().toISOString(),
    }
  }, FRESH_MS)
  scope.get('/verification', VERIFY_LOG, () => askedOfAuditor(read))
}

const VERIFY_LOG = only('metrics:read', {
  operationId: 'verifyLog',
  summary: 'Whether the whole audit log is what was recorded',
  description:
    'The auditor reads all of it again, which takes as long as it is long; 503 where that takes more than a minute (`baton verify` has no such limit). The same answer is given for a minute.',
  response: {
    200: answers('The verdict', {
      type: 'object',
      properties: {
        verdict: { enum: ['verified', 'altered', 'lost', 'clock', 'incomplete'] },
        records: { type: 'integer' },
        findings: { type: 'array', items: { type: 'object' }, description: 'The first 100.' },
        findingsTotal: { type: 'integer' },
        verifiedAt: { type: 'string', format: 'date-time' },
      },
      required: ['verdict', 'records', 'findings', 'findingsTotal', 'verifiedAt'],
    }),
    ...problems([], {
      502: 'The auditor refuses the gateway; an operator must correct its settings',
    }),
  },
})
