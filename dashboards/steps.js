// One step in the browser's history for each thing that a visitor did.
//
// Where a page leads to another one, Streamlit tells the browser first the parameters and then
// the path, and makes a step of each: Back from there led to a mixture of both pages.  So an
// address that changes while nobody has touched anything since the last change takes its place.

const DONE = "policyArenaSteps";
const TOUCHES = ["pointerdown", "click", "keydown", "change"];

export default function () {
  const { history } = window;
  if (history[DONE]) return;
  history[DONE] = true;
  let touched = true; // what happens first may be a step
  for (const touch of TOUCHES) {
    window.addEventListener(touch, () => (touched = true), { capture: true, passive: true });
  }
  const push = history.pushState.bind(history);
  history.pushState = (state, title, address) => {
    if (touched) push(state, title, address);
    else history.replaceState(state, title, address);
    touched = false;
  };
}
