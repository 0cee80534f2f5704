// The numbers of a Prometheus registry in OpenTelemetry's data model: same names, same labels, same buckets.
import { ValueType } from '@opentelemetry/api'
import type { HrTime } from '@opentelemetry/api'
import { emptyResource } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import type { DataPoint, Histogram, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics'
import type { MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client'

type Family = MetricObjectWithValues<MetricValueWithName<string>>
type Times = Pick<DataPoint<unknown>, 'startTime' | 'endTime'>

/** Everything counts from now on. */
export function metricProducer(registry: Registry): MetricProducer {
  const startTime = hrTime()
  return {
    async collect() {
      const families = (await registry.getMetricsAsJSON()) as Family[]
      const times = { startTime, endTime: hrTime() }
      const metrics = families.map((family) => metricData(family, times))
      const scopeMetrics = [{ scope: { name: 'baton' }, metrics }]
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
    },
  }
}

function hrTime(): HrTime {
  const ms = Date.now()
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000]
}

function metricData(family: Family, times: Times): MetricData {
  const { name, help: description, values } = family
  const common = {
    descriptor: {
      name,
      description,
      unit: name.endsWith('_seconds') ? 's' : '',
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  // prom-client declares an enum here and answers its names.
  const type = String(family.type)
  if (type === 'histogram') {
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: histograms(family, times),
    }
  }
  const dataPoints = values.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  if (type === 'counter') {
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
  }
  return { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** One data point for each set of labels. */
function histograms({ name, values }: Family, times: Times): DataPoint<Histogram>[] {
  const sets = Map.groupBy(values, ({ labels }) =>
    JSON.stringify(Object.entries(labels).filter(([label]) => label !== 'le')),
  )
  return [...sets].map(([labels, own]) => {
    const valueOf = (suffix: string) =>
      own.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0
    const buckets = own.filter(({ metricName }) => metricName === `${name}_bucket`)
    const upTo = buckets.map(({ value }) => value)
    return {
      ...times,
      attributes: Object.fromEntries(JSON.parse(labels) as [string, string][]),
      value: {
        sum: valueOf('sum'),
        count: valueOf('count'),
        buckets: {
          boundaries: buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite),
          counts: upTo.map((count, index) => count - (upTo[index - 1] ?? 0)),
        },
      },
    }
  })
}
