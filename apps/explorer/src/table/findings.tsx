import { count } from '@bloom/report';
import type { Finding } from '@bloom/sstable/inspect';
import { remedyOf } from './remedy.js';

const SHOWN_FINDINGS = 50;

/** The findings of a table. */
export function Findings({ findings, moreFindings, isWhole, onShow }: { readonly findings: readonly Finding[]; readonly moreFindings: number; readonly isWhole: boolean; readonly onShow: (offset: number) => void }) {
  if (findings.length === 0) {
    if (!isWhole) return null;
    return (
      <section class="card" aria-label="Findings">
        <h2>Findings</h2>
        <p class="notice is-good">Nothing is wrong with this file.</p>
      </section>
    );
  }
  const shown = findings.slice(0, SHOWN_FINDINGS);
  const rest = findings.length + moreFindings - shown.length;
  return (
    <section class="card" aria-label="Findings">
      <h2>
        Findings <span class="muted">{count(findings.length + moreFindings)}</span>
      </h2>
      <ul class="findings">
        {shown.map((finding, i) => (
          <li key={i} class="notice is-bad">
            <FindingText finding={finding} />
            <button type="button" class="is-link" onClick={() => onShow(finding.offset)}>
              Show where
            </button>
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="muted">and {count(rest)} more</p>}
    </section>
  );
}

export function FindingText({ finding }: { readonly finding: Finding }) {
  const { structure, offset, problem, code } = finding;
  const remedy = remedyOf(code, structure);
  return (
    <>
      <p>
        <strong>
          {structure} at {count(offset)}
        </strong>
        : {problem}
      </p>
      {remedy !== undefined && <p class="small">{remedy}</p>}
      <p class="small">
        <code>{code}</code>
      </p>
    </>
  );
}
