// The metrics are those that dashboards rely on, bounded in number, and readable in both formats.
import { describe, expect, it } from 'vitest'
import { HOPS } from './definitions/handoff-metrics.ts'
import { METRIC_DEFINITIONS } from './metric-definitions.ts'
import { createMetrics } from './metrics.ts'
import { OVERFLOW_LABEL } from './instrument.ts'

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'
const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
const PAIR = { transport: 'queue', from_agent: 'intake', to_agent: 'risk' } as const

const families = (body: string): Record<string, string> =>
  Object.fromEntries(
    [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )

describe('E18 metric names', () => {
  it('are the contractual ones, and those of corrections and of the log’s keepers', async () => {
    const { body } = await createMetrics().expose()
    expect(families(body)).toEqual({
      baton_audit_archive_lag_records: 'gauge',
      baton_audit_archived_records_total: 'counter',
      baton_audit_cold_bundles_read_total: 'counter',
      baton_audit_cold_faults: 'gauge',
      baton_audit_scrubbed_records_total: 'counter',
      baton_audit_drill_age_seconds: 'gauge',
      baton_audit_drills_total: 'counter',
      baton_audit_unsealed_age_seconds: 'gauge',
      baton_audit_unwitnessed_age_seconds: 'gauge',
      baton_requests_refused_total: 'counter',
      baton_resumes_total: 'counter',
      baton_revisions_total: 'counter',
      baton_sealer_leading: 'gauge',
      baton_seals_total: 'counter',
      baton_handoff_latency_seconds: 'histogram',
      baton_handoffs_total: 'counter',
      baton_handoff_validation_failures_total: 'counter',
      baton_safety_artefact_version: 'gauge',
      baton_safety_artefacts_total: 'counter',
      baton_safety_file_refused: 'gauge',
      baton_safety_shadow_total: 'counter',
      baton_safety_verdicts_total: 'counter',
      baton_context_compressions_total: 'counter',
      baton_context_summaries_total: 'counter',
      baton_summariser_cost_micro_usd_total: 'counter',
      baton_dead_letter_depth: 'gauge',
      baton_rollbacks_total: 'counter',
      baton_escalations_total: 'counter',
      baton_outbox_depth: 'gauge',
      baton_outbox_oldest_age_seconds: 'gauge',
      baton_audit_append_seconds: 'histogram',
      baton_audit_clock_ahead_seconds: 'gauge',
      baton_audit_tamper_detected_total: 'counter',
      baton_audit_tampered: 'gauge',
      baton_vault_rows_left: 'gauge',
      baton_audit_definitions_altered: 'gauge',
      baton_fenced_commits_total: 'counter',
      baton_hop_seconds: 'histogram',
      baton_waiting_for_people: 'gauge',
      baton_dead_letter_oldest_age_seconds: 'gauge',
      baton_queue_depth: 'gauge',
      baton_queue_oldest_age_seconds: 'gauge',
      baton_leases_expired_total: 'counter',
      baton_receipts_unmatched_total: 'counter',
      baton_breaker_open: 'gauge',
      baton_chunks_total: 'counter',
      baton_classifier_total: 'counter',
      baton_large_work_total: 'counter',
      baton_scan_incomplete_total: 'counter',
      baton_outside_calls_total: 'counter',
      baton_server_unsafe: 'gauge',
      baton_disk_free_ratio: 'gauge',
      baton_database_bytes: 'gauge',
      baton_expiry_timestamp_seconds: 'gauge',
      baton_tls_reloads_total: 'counter',
      baton_executions_active: 'gauge',
      baton_executions_limit: 'gauge',
      baton_exemption_files_total: 'counter',
      baton_exemptions: 'gauge',
      baton_pool_connections: 'gauge',
      baton_tokens_total: 'counter',
      baton_cost_micro_usd_total: 'counter',
      baton_log_records_dropped_total: 'counter',
      baton_message_bytes_total: 'counter',
      baton_audit_records_total: 'counter',
      baton_audit_erasures_total: 'counter',
      baton_alert_deliveries_total: 'counter',
      baton_event_deliveries_total: 'counter',
      baton_event_deliveries_waiting: 'gauge',
      baton_events_behind_seconds: 'gauge',
      baton_events_total: 'counter',
      baton_build_info: 'gauge',
    })
  })

  it('are those of the fields, and end in _total exactly where they count', () => {
    for (const [field, { name, kind }] of Object.entries(METRIC_DEFINITIONS)) {
      expect(name).toBe(
        `baton_${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      )
      expect(name.endsWith('_total')).toBe(kind === 'counter')
    }
  })

  it('carry the contractual labels', async () => {
    const metrics = createMetrics()
    metrics.handoffLatencySeconds.with(PAIR).observe(0.3)
    metrics.handoffsTotal.with({ outcome: 'REJECTED', reason: 'SCHEMA_INVALID' }).inc()
    metrics.handoffValidationFailuresTotal.with({ reason: 'SCHEMA_INVALID' }).inc(2)
    metrics.safetyVerdictsTotal.with({ decision: 'reject', category: 'override' }).inc()
    const { body } = await metrics.expose()
    expect(body).toContain(
      'baton_handoff_latency_seconds_count{transport="queue",from_agent="intake",to_agent="risk"} 1',
    )
    expect(body).toContain('baton_handoffs_total{outcome="REJECTED",reason="SCHEMA_INVALID"} 1')
    expect(body).toContain('baton_handoff_validation_failures_total{reason="SCHEMA_INVALID"} 2')
    expect(body).toContain('baton_safety_verdicts_total{decision="reject",category="override"} 1')
  })

  it('show every hop and every plain counter from the start', async () => {
    const { body } = await createMetrics().expose()
    for (const hop of HOPS) expect(body).toContain(`baton_hop_seconds_count{hop="${hop}"} 0`)
    expect(body).toContain('baton_rollbacks_total 0')
    expect(body).toContain('baton_audit_append_seconds_count 0')
  })

  it('use bucket edges that include the service levels', async () => {
    const metrics = createMetrics()
    metrics.handoffLatencySeconds.with(PAIR).observe(0.3)
    const { body } = await metrics.expose()
    const bucketOf = (edge: string): string | undefined =>
      new RegExp(`^baton_handoff_latency_seconds_bucket\\{le="${edge}",.*\\} (\\d+)$`, 'm').exec(
        body,
      )?.[1]
    expect(['0.2', '0.5', '1', '2', '5', '\\+Inf'].map(bucketOf)).toEqual([
      '0',
      '1',
      '1',
      '1',
      '1',
      '1',
    ])
  })

  it('do not meet between two sets of metrics', async () => {
    const left = createMetrics()
    const right = createMetrics()
    left.rollbacksTotal.inc()
    expect((await right.expose()).body).toContain('baton_rollbacks_total 0')
  })
})

describe('gauges', () => {
  it('say nothing of a label set that was never set', async () => {
    const metrics = createMetrics()
    metrics.waitingForPeople.approval.set(0)
    const { body } = await metrics.expose()
    expect(body.match(/^baton_waiting_for_people.*$/gm)).toEqual([
      'baton_waiting_for_people{kind="approval"} 0',
    ])
    expect(body).not.toMatch(/^baton_queue_depth\{/m)
  })

  it('ask their sources whenever they are read, and add them up', async () => {
    const metrics = createMetrics()
    const pools = [{ busy: 1 }, { busy: 2 }]
    for (const pool of pools) metrics.poolConnections.busy.read(() => pool.busy)
    expect((await metrics.expose()).body).toContain('baton_pool_connections{state="busy"} 3')
    pools[1]!.busy = 0
    const { body } = await metrics.expose('application/openmetrics-text')
    expect(body).toContain('baton_pool_connections{state="busy"} 1')
  })
})

describe('labels', () => {
  it('give the same instrument for the same values', () => {
    const metrics = createMetrics()
    expect(metrics.handoffLatencySeconds.with({ ...PAIR })).toBe(
      metrics.handoffLatencySeconds.with(PAIR),
    )
  })

  it('are bounded: what a sender invents beyond a thousand is counted as other', async () => {
    const metrics = createMetrics()
    for (let index = 0; index < 1_100; index += 1) {
      metrics.handoffValidationFailuresTotal.with({ reason: `made-up-${index}` }).inc()
    }
    const { body } = await metrics.expose()
    expect(body.match(/^baton_handoff_validation_failures_total\{/gm)).toHaveLength(1_001)
    expect(body).toContain(
      `baton_handoff_validation_failures_total{reason="${OVERFLOW_LABEL}"} 100`,
    )
  })
})

describe('names that senders choose', () => {
  it('never move a handoff out of its transport, so it stays in the objective', async () => {
    const metrics = createMetrics()
    const pair = (from_agent: string) => ({ transport: 'queue', from_agent, to_agent: 'risk' })
    for (let index = 0; index < 1_000; index += 1)
      metrics.handoffLatencySeconds.with(pair(`made-up-${index}`)).observe(0.01)
    metrics.handoffLatencySeconds.with(pair('intake')).observe(900)
    const { body } = await metrics.expose()
    expect(body).toContain(
      `baton_handoff_latency_seconds_count{transport="queue",from_agent="${OVERFLOW_LABEL}",to_agent="${OVERFLOW_LABEL}"} 1`,
    )
  })

  it('never hide which way tokens went', () => {
    const { tokensTotal } = createMetrics()
    for (let index = 0; index < 1_000; index += 1)
      tokensTotal.with({ agent: `made-up-${index}`, direction: 'input' })
    const input = tokensTotal.with({ agent: 'risk', direction: 'input' })
    expect(tokensTotal.with({ agent: 'intake', direction: 'input' })).toBe(input)
    expect(tokensTotal.with({ agent: 'risk', direction: 'output' })).not.toBe(input)
  })
})

describe('content negotiation', () => {
  const filled = () => {
    const metrics = createMetrics()
    const exemplar = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }
    metrics.handoffLatencySeconds.with(PAIR).observe(0.3, exemplar)
    metrics.handoffsTotal.with({ outcome: 'ACCEPTED', reason: '' }).inc()
    return metrics
  }

  it.each([
    undefined,
    '*/*',
    'text/plain',
    'text/plain;version=0.0.4;q=0.9,*/*;q=0.1',
    'application/openmetrics-text;q=0',
    'application/openmetrics-text;q=0.2,text/plain;q=0.5',
    'application/openmetrics-text;q=nonsense',
  ])('answers plain text without exemplars to %s', async (accept) => {
    const { contentType, body } = await filled().expose(accept)
    expect(contentType).toBe(TEXT)
    expect(body).not.toContain('trace_id')
    expect(body).not.toContain('# EOF')
  })

  it.each([
    'application/openmetrics-text',
    'Application/OpenMetrics-Text; version=1.0.0',
    // What a Prometheus server sends.
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1',
    // What a newer one sends: with parameters that are not offered.
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.1',
  ])('answers OpenMetrics with exemplars to %s', async (accept) => {
    const { contentType, body } = await filled().expose(accept)
    expect(contentType).toBe(OPEN_METRICS)
    expect(body).toMatch(/le="0\.5".* 1 # \{trace_id="(ab){16}",span_id="(cd){8}"\} 0\.3 \d/)
    expect(body).toContain('# TYPE baton_handoffs counter')
    expect(body).toContain('baton_handoffs_total{outcome="ACCEPTED",reason=""} 1')
    expect(body.endsWith('# EOF\n')).toBe(true)
  })

  it('keeps the names of one format when the other was asked for in between', async () => {
    const metrics = filled()
    const before = await metrics.expose()
    await metrics.expose('application/openmetrics-text')
    expect((await metrics.expose()).body).toBe(before.body)
    metrics.handoffsTotal.with({ outcome: 'ACCEPTED', reason: '' }).inc()
    const { body } = await metrics.expose('application/openmetrics-text')
    expect(body).toContain('baton_handoffs_total{outcome="ACCEPTED",reason=""} 2')
  })
})
