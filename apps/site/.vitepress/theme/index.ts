import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import ExplorerLink from './ExplorerLink.vue';
import ExplorerStep from './ExplorerStep.vue';
import FilterCalculator from './FilterCalculator.vue';
import FilterLengthCurve from './FilterLengthCurve.vue';
import LayerChoice from './LayerChoice.vue';
import LiveTable from './LiveTable.vue';
import '../../../explorer/src/shell/tokens.css';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    for (const [name, component] of Object.entries({ ExplorerLink, ExplorerStep, FilterCalculator, FilterLengthCurve, LayerChoice, LiveTable })) app.component(name, component);
  },
} satisfies Theme;
