// Dashboards as Grafana takes them, by its own builders.
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge'
import {
  BarGaugeDisplayMode,
  BigValueColorMode,
  BigValueGraphMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard'
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import * as stat from '@grafana/grafana-foundation-sdk/stat'
import * as table from '@grafana/grafana-foundation-sdk/table'
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'
import type { Board, Panel, Query } from './board.ts'

const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const HEIGHT = 8

export function toGrafana(board: Board): Dashboard {
  const builder = new DashboardBuilder(board.title)
    .uid(board.uid)
    .description(board.about)
    .tags(['baton'])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .link(
      new DashboardLinkBuilder('Baton')
        .type(DashboardLinkType.Dashboards)
        .tags(['baton'])
        .includeVars(true)
        .keepTime(true),
    )
    .withVariable(
      new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'),
    )
  for (const variable of VARIABLES) builder.withVariable(choice(variable))
  for (const row of board.rows) {
    builder.withRow(new RowBuilder(row.title))
    for (const panel of row.panels) builder.withPanel(PANELS[panel.shape](panel))
  }
  return builder.build()
}

const PAIRS = 'baton_handoff_latency_seconds_count'
const VARIABLES = [
  { name: 'tenant', label: 'Tenant', query: 'label_values(up, tenant)' },
  { name: 'transport', label: 'Transport', query: `label_values(${PAIRS}, transport)` },
  { name: 'from_agent', label: 'From', query: `label_values(${PAIRS}, from_agent)` },
  {
    name: 'to_agent',
    label: 'To',
    query: `label_values(${PAIRS}{from_agent=~"$from_agent"}, to_agent)`,
  },
]

/** All is everything, also what has no such label. */
function choice({ name, label, query }: (typeof VARIABLES)[number]): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(SOURCE)
    .query({ query, refId: name })
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' })
    .refresh(VariableRefresh.OnTimeRangeChanged)
}

function target({ expression, legend }: Query, index: number, panel: Panel): DataqueryBuilder {
  const built = new DataqueryBuilder()
    .refId(String.fromCodePoint('A'.codePointAt(0)! + index))
    .datasource(SOURCE)
    .expr(expression)
    .legendFormat(legend ?? '')
  if (panel.exemplars === true) built.exemplar(true)
  if (panel.shape === 'heat') return built.format(PromQueryFormat.Heatmap).range()
  if (panel.shape === 'table') return built.format(PromQueryFormat.Table).instant()
  return panel.shape === 'lines' || panel.shape === 'areas' ? built.range() : built.instant()
}

/** Green, then orange, then red; the other way round where less is worse. */
function thresholds({ warnsAt, badAt }: Panel): ThresholdsConfigBuilder {
  const isLessWorse = warnsAt !== undefined && badAt !== undefined && badAt < warnsAt
  const steps = isLessWorse
    ? [
        { value: null, color: 'red' },
        { value: badAt, color: 'orange' },
        { value: warnsAt, color: 'green' },
      ]
    : [
        { value: null, color: 'green' },
        ...(warnsAt === undefined ? [] : [{ value: warnsAt, color: 'orange' }]),
        ...(badAt === undefined ? [] : [{ value: badAt, color: 'red' }]),
      ]
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps)
}

interface Common<Built> {
  title(title: string): Built
  description(text: string): Built
  datasource(source: typeof SOURCE): Built
  unit(unit: string): Built
  span(columns: number): Built
  height(rows: number): Built
  thresholds(config: ThresholdsConfigBuilder): Built
  withTarget(built: DataqueryBuilder): Built
}

function dressed<Built extends Common<Built>>(built: Built, panel: Panel): Built {
  built
    .title(panel.title)
    .description(panel.exemplars === true ? `${panel.says} Points open the trace.` : panel.says)
    .datasource(SOURCE)
    .unit(panel.unit)
    .span(panel.width)
    .height(HEIGHT)
    .thresholds(thresholds(panel))
  for (const [index, query] of panel.queries.entries())
    built.withTarget(target(query, index, panel))
  return built
}

const newest = () => new ReduceDataOptionsBuilder().calcs(['lastNotNull'])

function lines(panel: Panel): timeseries.PanelBuilder {
  const built = dressed(new timeseries.PanelBuilder(), panel)
    .lineWidth(2)
    .fillOpacity(panel.shape === 'areas' ? 30 : 0)
    .axisSoftMin(0)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(
      new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending),
    )
  if (panel.shape === 'areas') built.stacking(new StackingConfigBuilder().mode(StackingMode.Normal))
  if (panel.badAt === undefined) return built
  return built.thresholdsStyle(
    new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Line),
  )
}

const PANELS = {
  figures: (panel: Panel) =>
    dressed(new stat.PanelBuilder(), panel)
      .reduceOptions(newest())
      .colorMode(BigValueColorMode.Value)
      .graphMode(BigValueGraphMode.None),
  bars: (panel: Panel) =>
    dressed(new bargauge.PanelBuilder(), panel)
      .reduceOptions(newest())
      .orientation(VizOrientation.Horizontal)
      .displayMode(BarGaugeDisplayMode.Basic)
      .min(0)
      .max(1),
  lines,
  areas: lines,
  heat: (panel: Panel) => dressed(new heatmap.PanelBuilder(), panel).calculate(false),
  table: (panel: Panel) => dressed(new table.PanelBuilder(), panel),
} as const
