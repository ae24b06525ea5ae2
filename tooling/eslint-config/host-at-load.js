/**
 * Functions of the host that test suites replace, with timers that stand still until the test moves them. A package that calls them as they
 * are then waits for ever, so it takes them once, where a module is loaded.
 */
const REPLACED = new Set(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'performance']);

/** What runs later than the module is loaded. */
const LATER = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'PropertyDefinition']);

/** @typedef {import('eslint').Rule.Node} Node */

/** @param {Node | null} node @returns {boolean} whether the code runs later than the module is loaded */
function runsLater(node) {
  if (node === null) return false;
  return LATER.has(node.type) && !('static' in node && node.static) ? true : runsLater(node.parent);
}

/** @type {import('eslint').Rule.RuleModule} */
export const hostAtLoad = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { late: 'Take {{ name }} where the module is loaded: test suites replace it with one that stands still.' },
  },
  create(context) {
    return {
      'Program:exit'() {
        const { scopeManager } = context.sourceCode;
        const { globalScope } = scopeManager;
        if (globalScope === null) return;
        const free = [...globalScope.through, ...globalScope.variables.flatMap(({ references }) => references)];
        for (const { identifier } of free) {
          const node = /** @type {Node & { readonly name: string }} */ (/** @type {unknown} */ (identifier));
          if (REPLACED.has(node.name) && runsLater(node.parent)) context.report({ node, messageId: 'late', data: { name: node.name } });
        }
      },
      // Taken out of globalThis by its name.
      'ObjectPattern > Property'(/** @type {Node} */ node) {
        if (node.type !== 'Property' || node.key.type !== 'Identifier' || !REPLACED.has(node.key.name)) return;
        const declarator = /** @type {Node | null} */ (node.parent.parent);
        if (declarator?.type !== 'VariableDeclarator') return;
        const from = context.sourceCode.getText(/** @type {never} */ (declarator.init));
        if (from.startsWith('globalThis') && runsLater(declarator)) context.report({ node, messageId: 'late', data: { name: node.key.name } });
      },
    };
  },
};
