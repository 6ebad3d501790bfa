"""The rehearsal device itself: the values of the CPU, the refusals of CUDA, and counts of what was asked for."""

import numpy as np
import pytest
import torch
from rehearsed import rehearsal

rehearse, to_device, DEVICE = rehearsal.rehearse, rehearsal.to_device, rehearsal.DEVICE


def test_results_and_gradients_are_those_of_the_cpu() -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.GELU(), torch.nn.LayerNorm(7), torch.nn.Linear(7, 3))
    x = torch.randn(4, 5)
    target = torch.tensor([0, 2, 1, 1])
    expected = torch.nn.functional.cross_entropy(layers(x), target)
    gradients = torch.autograd.grad(expected, list(layers.parameters()))
    with rehearse():
        to_device(layers)
        loss = torch.nn.functional.cross_entropy(layers(to_device(x)), to_device(target))
        assert loss.device == DEVICE
        found = torch.autograd.grad(loss, list(layers.parameters()))
        assert loss.item() == expected.item()
        assert all(torch.equal(a.cpu(), b) for a, b in zip(found, gradients, strict=True))


@pytest.mark.parametrize(
    "refused",
    [
        lambda x: x + torch.ones(3),
        lambda x: x.index_select(0, torch.tensor([1])),
        lambda x: torch.cat([x, torch.ones(3)]),
        lambda x: x.masked_fill(torch.tensor([True, False, True]), 0.0),
        lambda x: torch.nn.functional.embedding(torch.tensor([0]), x[:, None]),
    ],
)
def test_operands_on_two_devices_are_refused(refused) -> None:
    with rehearse(), pytest.raises(RuntimeError, match="one device"):
        refused(to_device(torch.arange(3.0)))


@pytest.mark.parametrize("refused", [lambda x: x.numpy(), np.asarray, lambda x: np.log(x)])
def test_numpy_is_refused(refused) -> None:
    with rehearse(), pytest.raises(TypeError, match="numpy"):
        refused(to_device(torch.ones(3)))


def test_numbers_of_the_host_are_operands_and_its_indices_are_copied() -> None:
    with rehearse() as counts:
        x = to_device(torch.arange(3.0))
        assert (x * torch.tensor(2.0) + 1).tolist() == [1.0, 3.0, 5.0]
        assert (counts.launches, counts.to_device, counts.to_host, counts.waits) == (2, 0, 1, 1)
        assert x[torch.tensor([2, 0])].cpu().tolist() == [2.0, 0.0]
        assert (counts.launches, counts.to_device, counts.to_host, counts.waits) == (3, 1, 2, 3)


def test_views_and_allocations_cost_nothing_and_kernels_copies_and_waits_are_counted() -> None:
    with rehearse() as counts:
        x = to_device(torch.arange(12.0))
        x.view(3, 4).transpose(0, 1)[1:].unsqueeze(0).unbind()
        torch.empty(3, device=DEVICE)
        assert not any(counts.summary().values())
        y = torch.zeros(3, device=DEVICE)
        assert y.device == DEVICE and counts.launches == 1
        y.copy_(torch.ones(3))
        assert counts.to_device == 1 and y.sum().item() == 3.0
        assert counts.waits == 1 and counts.launches == 2
        x[x > 5]
        assert counts.waits == 2
        torch.softmax(x, 0, out=x)
        assert x.sum().cpu() == pytest.approx(1)
        assert any(place.startswith("waits") and "rehearse_device.py" in place for place in counts.places)


def test_what_is_written_in_place_is_the_same_tensor() -> None:
    with rehearse():
        x = to_device(torch.ones(2, 3))
        assert x.add_(1) is x and torch.mul(x, 2, out=x) is x and x.tolist() == [[4.0] * 3] * 2
        x[0] = 7.0
        assert x.tolist() == [[7.0] * 3, [4.0] * 3]


def test_outside_of_it_everything_is_as_before() -> None:
    with rehearse():
        pass
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and torch.tensor([1]).is_inference()
    assert torch.ones(2).numpy().tolist() == [1.0, 1.0]


def test_what_a_step_needs_goes_over_in_one_copy_and_back_in_one() -> None:
    from dcmbr_fairseq.decoders.transfer import on_device, on_host

    arrays = [np.array([3, -1, 2**40]), np.array([0.1, np.nextafter(1, 0), 0.0]), np.empty(0, dtype=np.int64)]
    with rehearse() as counts:
        tensors = on_device(DEVICE, *arrays)
        assert (counts.launches, counts.to_device, counts.waits) == (0, 1, 0)
        found = on_host(*tensors, tensors[1].float())
        assert (counts.to_device, counts.to_host, counts.waits) == (1, 1, 1)
    for ours, given in zip(found, [*arrays, arrays[1].astype(np.float32)], strict=True):
        assert np.array_equal(ours, given) and (ours.dtype == np.int64) == (given.dtype == np.int64)
