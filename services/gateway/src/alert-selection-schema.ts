// How a filter means alerts and escalations: in the query of their lists, and in the body of what handles many at once.
import { FILTER_MAX } from './refused-request.ts'

export const SEVERITIES = ['page', 'ticket'] as const

const filter = (description: string) => ({
  type: 'string',
  maxLength: FILTER_MAX,
  pattern: String.raw`^\P{Cc}*$`,
  description,
})

export const ESCALATION_SELECTION = {
  reason: filter('Only of this reason.'),
  fromPrefix: filter('Only where the agent type that handed on begins so.'),
  toPrefix: filter('Only where the agent type that was handed to begins so.'),
  before: {
    type: 'string',
    format: 'date-time',
    description: 'Only alerts that came last, and escalations that were opened, before this.',
  },
}

export const ALERT_SELECTION = {
  kind: filter('Only of this kind.'),
  severity: { enum: SEVERITIES },
  sender: filter(
    'Only what handoffs of this sender opened: the operator of the key, or else the agent.',
  ),
  ...ESCALATION_SELECTION,
}

/** Why somebody says that it is over. */
const WHY = {
  type: 'string',
  minLength: 1,
  maxLength: 500,
  pattern: String.raw`^\P{Cc}*$`,
  description: 'One line for whoever reads the history. It does not leave by webhooks.',
}

const DRY_RUN = { type: 'boolean', description: 'Only count what is meant.' }

const request = (properties: object, required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})

/** Nobody means everything by saying nothing. */
const selection = (properties: object) => ({ ...request(properties, []), minProperties: 1 })

const ALERTS = { filter: selection(ALERT_SELECTION), dryRun: DRY_RUN }
const ESCALATIONS = { filter: selection(ESCALATION_SELECTION), dryRun: DRY_RUN }

export const HANDLING_REQUESTS = {
  WhyRequest: request({ why: WHY }, ['why']),
  AlertsRequest: request(ALERTS, ['filter']),
  AlertsWhyRequest: request({ ...ALERTS, why: WHY }, ['filter', 'why']),
  EscalationsRequest: request(ESCALATIONS, ['filter']),
  EscalationsWhyRequest: request({ ...ESCALATIONS, why: WHY }, ['filter', 'why']),
}
